import t from 'tap'
import { parseRedisUrl } from '../src/redis-url.ts'

t.test('the URL of one server is passed on as it is', async (t) => {
  for (const url of [
    'redis://h',
    'rediss://user:pa%2Fss@h:6380/2?family=6',
    'redis://:p@[::1]:7',
  ]) {
    t.same(parseRedisUrl(url), { topology: 'single', url })
  }
})

t.test('a cluster has several hosts with one user and password', async (t) => {
  t.same(parseRedisUrl('redis+cluster://user:p%40ss%2C@one:7001,two,[::1]:7003'), {
    topology: 'cluster',
    tls: false,
    username: 'user',
    password: 'p@ss,',
    nodes: [
      { host: 'one', port: 7001 },
      { host: 'two', port: 6379 },
      { host: '::1', port: 7003 },
    ],
  })
  t.match(parseRedisUrl('rediss+cluster://one'), { tls: true, username: undefined })
})

t.test('sentinels name the primary, and can have a password of their own', async (t) => {
  const url = 'rediss+sentinel://:secret@one,two:5000/main?sentinel_password=w%26s'
  t.same(parseRedisUrl(url), {
    topology: 'sentinel',
    tls: true,
    username: undefined,
    password: 'secret',
    sentinels: [
      { host: 'one', port: 26_379 },
      { host: 'two', port: 5000 },
    ],
    name: 'main',
    sentinel: { username: undefined, password: 'w&s' },
  })
})

t.test('a wrong URL is described without any part of it', async (t) => {
  const wrong: [url: string, problem: RegExp][] = [
    ['valkey://hidden', /must be redis:\/\//],
    ['redis+ring://hidden', /must be redis:\/\//],
    ['redis://hidden:1,hidden:2', /several hosts/],
    ['redis+cluster://hidden:1,,hidden:2', /between the commas/],
    ['redis+cluster://hidden:99999', /between the commas/],
    ['redis+cluster://user:hidden%@one', /percent-encoded/],
    ['redis://user:hidden%@one', /percent-encoded/],
    ['redis+cluster://one/3', /one database/],
    ['redis+cluster://one?hidden=1', /parameter/],
    ['redis+sentinel://one', /name that the sentinels give/],
    ['redis+sentinel://one/hidden/1', /name that the sentinels give/],
    ['redis+sentinel://one/main?hidden=1', /parameter/],
  ]
  for (const [url, problem] of wrong) {
    t.throws(() => parseRedisUrl(url), { message: problem }, url)
    t.throws(() => parseRedisUrl(url), { message: /^(?!.*hidden)/ }, url)
  }
})
