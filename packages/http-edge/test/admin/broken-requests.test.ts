import t from 'tap'
import { exchange, startAdmin } from './start-admin.ts'

/** Sends bytes and waits until the server disconnects. Resolves to the responses' status lines. */
const statuses = async (port: number, bytes: string) =>
  (await exchange(port, bytes)).match(/HTTP\/1\.1 \d+/g) ?? []

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

t.test('the admin port responds to the requests before bytes that are none', async (t) => {
  const port = await startAdmin(t)
  const metrics = get('/metrics')
  t.same(await statuses(port, `${metrics} `), ['HTTP/1.1 200'])
  t.same(await statuses(port, `${metrics}${get('/none')}\0${metrics}`), [
    'HTTP/1.1 200',
    'HTTP/1.1 404',
  ])
  const post = 'POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
  const chunked = `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n`
  const [first, second, ...more] = await statuses(port, metrics + chunked)
  t.equal(first, 'HTTP/1.1 200')
  t.match(second, /HTTP\/1\.1 40[04]/)
  t.same(more, [])
})

t.test('the admin port refuses what is no request', async (t) => {
  const port = await startAdmin(t)
  t.same(await statuses(port, 'garbage\r\n\r\n'), ['HTTP/1.1 400'])
  const large = get('/status').replace('Host', `a: ${'a'.repeat(20_000)}\r\nHost`)
  t.same(await statuses(port, large), ['HTTP/1.1 431'])
})
