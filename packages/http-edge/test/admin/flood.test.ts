import t from 'tap'
import { exchange, startAdmin } from './start-admin.ts'

const get = (headers = '') => `GET /status HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`

t.test('a thousand pipelined requests are not served, four are', async (t) => {
  let served = 0
  const port = await startAdmin(t, {
    routes: async (app) => void app.get('/status', async () => ({ served: ++served })),
  })
  await Promise.all(Array.from({ length: 20 }, () => exchange(port, get().repeat(1_000))))
  t.ok(served <= 20 * 4, `${served} requests`)
  const text = await exchange(port, get().repeat(3) + get('Connection: close\r\n'))
  t.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 4)
})
