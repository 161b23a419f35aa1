import t from 'tap'
import { Type } from 'typebox'
import { ConfigError } from '../src/config-error.ts'
import { describeConfig, loadConfig } from '../src/config.ts'

const schema = Type.Object({
  PORT: Type.Integer({ minimum: 0, default: 3000 }),
  URL: Type.String(),
  TOKEN: Type.String({ minLength: 3 }),
})

t.test('strings get the types of the schema; an empty variable is unset', async (t) => {
  t.same(loadConfig(schema, { URL: 'x', TOKEN: 'abc', PORT: '', OTHER: 'y' }), {
    PORT: 3000,
    URL: 'x',
    TOKEN: 'abc',
  })
  t.equal(loadConfig(schema, { URL: 'x', TOKEN: 'abc', PORT: '80' }).PORT, 80)
})

t.test('all problems are reported at once, by name and never by value', async (t) => {
  t.throws(
    () => loadConfig(schema, { PORT: 'eighty', TOKEN: 's3' }),
    new ConfigError([
      'URL must be set',
      'PORT must be integer',
      'TOKEN must not have fewer than 3 characters',
    ]),
  )
})

t.test('problems that the schema does not know are reported with the others', async (t) => {
  const env = { URL: 'x', TOKEN: 'abc', PORT: 'eighty' }
  const checked: unknown[] = []
  const related = Type.Object(schema.properties, {
    findProblems(config: unknown) {
      checked.push(config)
      return ['TOKEN does not fit URL']
    },
  })
  const both = ['PORT must be integer', 'TOKEN does not fit URL']
  t.throws(() => loadConfig(related, env), new ConfigError(both))
  t.same(checked, [{ URL: 'x', TOKEN: 'abc', PORT: 3000 }], 'a wrong setting has its default')
  t.throws(
    () => loadConfig(related, { ...env, URL: '' }),
    new ConfigError(['URL must be set', 'PORT must be integer']),
  )
  t.equal(checked.length, 1, 'nothing is checked while a required setting is missing')
})

t.test('of any number of wrong settings each is named once, with its choices', async (t) => {
  const choice = Type.Union([Type.Literal('strict'), Type.Literal('relaxed')])
  const names = Array.from({ length: 10 }, (_, index) => `MODE_${index}`)
  const many = Type.Object(Object.fromEntries(names.map((name) => [name, choice])))
  t.throws(
    () => loadConfig(many, Object.fromEntries(names.map((name) => [name, 'foo']))),
    new ConfigError(names.map((name) => `${name} must be one of strict, relaxed`)),
  )
})

t.test('settings are described without secrets', async (t) => {
  const withSecrets = Type.Object({
    PORT: Type.Integer(),
    HOST: Type.String(),
    PASSWORD: Type.String({ writeOnly: true }),
    URL: Type.String({ hasCredentials: true }),
  })
  const config = {
    PORT: 80,
    HOST: '::1',
    PASSWORD: 'hidden',
    URL: 'rediss://user:hidden@redis:6379/0?token=hidden',
  }
  t.same(describeConfig(withSecrets, config), {
    PORT: 80,
    HOST: '::1',
    PASSWORD: 'set',
    URL: 'redis:6379',
  })
})

t.test('a password that is not percent-encoded is refused, without being shown', async (t) => {
  const withUrl = Type.Object({ URL: Type.String({ hasCredentials: true }) })
  for (const password of ['pa/ss', '12/34', 'se#cret', 'what?', 'AKIA:wJalr/XUt', '50%off']) {
    for (const scheme of ['redis', 'https']) {
      const env = { URL: `${scheme}://user:${password}@host:6379` }
      t.throws(
        () => loadConfig(withUrl, env),
        { message: /^configuration: URL must be a URL whose user and password are percent-enc/ },
        env.URL,
      )
    }
  }
  const good = { URL: 'https://key:a%2Fb%23c@host:9000' }
  t.same(loadConfig(withUrl, good), good)
  const several = { URL: 'redis+cluster://user:hidden@one:7001,two:7002' }
  t.same(loadConfig(withUrl, several), several)
  t.same(describeConfig(withUrl, several), { URL: 'one:7001, two:7002' })
  t.same(loadConfig(withUrl, { URL: 'http://host:9000' }), { URL: 'http://host:9000' })
})

t.test('a list of URLs is described by its hosts, and each URL is checked', async (t) => {
  const withUrls = Type.Object({ URL: Type.String({ hasCredentials: true, isUrlList: true }) })
  const URL = 'http://u:p,w@one:8123,https://u:hidden@two:8443'
  t.same(loadConfig(withUrls, { URL }), { URL })
  t.same(describeConfig(withUrls, { URL }), { URL: 'one:8123, two:8443' })
  t.throws(() => loadConfig(withUrls, { URL: 'http://one:8123,http://u:pa/ss@two:8123' }))
})

t.test('several hosts in a URL are for Redis only, several URLs for lists', async (t) => {
  const withUrl = Type.Object({ URL: Type.String({ hasCredentials: true }) })
  for (const URL of [
    'http://u:hidden@one:8123,two:8123',
    'http://hidden,two',
    'http://u:hidden@one:8123,http://u:hidden@two:8123',
  ]) {
    t.throws(() => loadConfig(withUrl, { URL }), {
      message: /^configuration: URL must (?!.*hidden)/,
    })
  }
})

t.test('URLs are checked also when another setting is invalid', async (t) => {
  const both = Type.Object({ PORT: Type.Integer(), URL: Type.String({ hasCredentials: true }) })
  const env = { PORT: 'eighty', URL: 'http://u:pa/ss@host' }
  t.throws(() => loadConfig(both, env), {
    message: /^configuration: PORT must be integer; URL must be a URL whose/,
  })
})
