import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { cases } from '../src/cases/index.ts'
import { printCase, printSummary, runConformance } from '../src/index.ts'
import { flaws } from './flaws.ts'
import { startSender } from './support.ts'

t.test('there are at least 40 cases, each with a title of its own', async (t) => {
  const titles = cases.map(({ title }) => title)
  t.ok(titles.length >= 40, String(titles.length))
  t.equal(new Set(titles).size, titles.length)
  for (const { found } of Object.values(flaws)) t.ok(titles.includes(found), found)
})

t.test('what the next visit sends at once is not counted as sent by a closing page', async (t) => {
  const adapter = await startSender(t, { sendsAtStart: true })
  const only = 'sends no more than 64 KiB from a closing page'
  const { results } = await runConformance({ adapter, only })
  t.match(results, [{ outcome: 'passed', seen: undefined }])
})

t.test('a wrong sender fails with what was seen, and with its requests', async (t) => {
  const adapter = await startSender(t, { flaw: 'gives a new id on retry' })
  const { results } = await runConformance({ adapter, only: 'keeps the id over a retry' })
  t.match(results, [{ outcome: 'failed' }])
  const text = results.map(printCase).join('\n')
  t.match(text, /^failed {10}keeps the id over a retry\n/)
  t.match(text, /sent under [\da-f-]{36}, [\da-f-]{36}/)
  t.match(text, /POST \/api\/log\/batch \(1 events, \d+ bytes\) → 503 by a fault/)
})

t.test('a case that needs what the sender lacks is not applicable, never passed', async (t) => {
  const adapter = await startSender(t, { capabilities: ['batch'] })
  const result = await runConformance({ adapter, only: 'delivers a feedback' })
  t.match(result.results, [
    { outcome: 'not applicable', seen: 'the sender has no feedback', requests: [] },
  ])
  t.match(printSummary(result), /Without feedback, /)
})

t.test('an adapter that cannot be reached is an error, not a failed case', async (t) => {
  const running = runConformance({ adapter: 'http://127.0.0.1:9' })
  await t.rejects(running, { name: 'AdapterError', message: /GET \/ of the adapter/ })
})

t.test('a response of the adapter that ends early is an error of the adapter', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': 10 })
    response.write('{', () => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const running = runConformance({ adapter: `http://127.0.0.1:${port}` })
  await t.rejects(running, {
    name: 'AdapterError',
    status: undefined,
    message: /an incomplete response/,
  })
})
