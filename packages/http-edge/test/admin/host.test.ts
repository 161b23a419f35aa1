import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { exchange, paths, startAdmin } from './start-admin.ts'

const page = async (app: FastifyInstance) => void app.get('/', async () => 'the page')

async function statusOf(port: number, path: string, host: string) {
  const sent = request({ host: '127.0.0.1', port, path, headers: { host } })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

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

t.test('an internal admin port is not on the interface with the default route', async (t) => {
  const head =
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n'
  const local = 'lo\t0000007F\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0   \n'
  const out = 'lo\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0   \n'
  let table = head + local
  const port = await startAdmin(t, { host: 'internal', readTable: () => table })
  t.equal(await statusOf(port, '/status', 'worker:3002'), 200, 'other containers use its name')
  table = head + out + local
  await t.rejects(statusOf(port, '/status', 'worker:3002'), { code: 'ECONNRESET' })
  t.equal(await exchange(port, 'GET /metrics HTTP/1.1\r\nHost: worker\r\n\r\n'), '')
})

t.test('an internal admin port needs the table of routes', async (t) => {
  const readTable = () => {
    throw new Error('no such file')
  }
  await t.rejects(startAdmin(t, { host: 'internal', readTable }), { message: 'no such file' })
})

t.test('while an internal admin port cannot read its routes, it serves nobody', async (t) => {
  let isReadable = true
  const readTable = () => {
    if (!isReadable) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    return ''
  }
  const port = await startAdmin(t, { host: 'internal', readTable })
  isReadable = false
  await t.rejects(statusOf(port, '/status', 'worker:3002'), { code: 'ECONNRESET' })
  isReadable = true
  t.equal(await statusOf(port, '/status', 'worker:3002'), 200, 'and the process has not ended')
})
