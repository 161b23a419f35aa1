import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { startAdmin } from './start-admin.ts'

const page = async (app: FastifyInstance) => void app.get('/', async () => 'the page')

async function statusOf(port: number, path: string, host: string) {
  const sent = request({ host: '127.0.0.1', port, path, headers: { host } })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

const paths = ['/healthz', '/readyz', '/status', '/scaling', '/metrics']
const foreign = [
  'evil.example',
  'evil.example:3002',
  '127.0.0.1.evil.example',
  '10.0.0.1',
  'worker',
]

t.test('403 for a foreign Host on an admin port that is bound to loopback', async (t) => {
  const port = await startAdmin(t, { page })
  for (const path of paths) {
    for (const host of foreign) t.equal(await statusOf(port, path, host), 403, `${host} ${path}`)
    for (const host of [`127.0.0.1:${port}`, 'localhost', `LOCALHOST:${port}`, '[::1]:3002']) {
      t.equal(await statusOf(port, path, host), 200, `${host} ${path}`)
    }
  }
  t.equal(await statusOf(port, '/', 'intake.example'), 200, 'the page guards itself')
})

t.test('200 without a Host, which no browser leaves out', async (t) => {
  const socket = connect(await startAdmin(t, { page }), '127.0.0.1')
  socket.write('GET /healthz HTTP/1.0\r\n\r\n')
  t.match(await text(socket), /^HTTP\/1\.1 200 /)
})

t.test('200 for any Host elsewhere, as in a container', async (t) => {
  const port = await startAdmin(t, { host: '0.0.0.0' })
  for (const host of foreign) t.equal(await statusOf(port, '/status', host), 200, host)
})
