import t, { type Test } from 'tap'
import { addGauge, Registry } from '@intake/runtime/process'
import { exchange, startAdmin } from './start-admin.ts'

/** Starts an admin server that counts how often its metrics and its status are rendered. */
async function start(t: Test) {
  const metrics = new Registry()
  const counts = { renderings: 0, facts: 0 }
  addGauge(metrics, {
    name: 'test_renderings',
    help: 'Counts renderings.',
    read: () => [[{}, ++counts.renderings]],
  })
  const port = await startAdmin(t, { facts: () => ({ facts: ++counts.facts }), metrics })
  return { port, counts }
}

const get = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`

t.test('a thousand pipelined requests are not served', async (t) => {
  const { port, counts } = await start(t)
  for (const path of ['/metrics', '/status']) {
    const floods = Array.from({ length: 20 }, () => exchange(port, get(path).repeat(1_000)))
    await Promise.all(floods)
  }
  t.ok(counts.renderings <= 20, `${counts.renderings} renderings`)
  t.ok(counts.facts <= 20 * 4, `${counts.facts} statuses`)
  t.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200)
})

t.test('four are, with one rendering for all who ask at once', async (t) => {
  const { port, counts } = await start(t)
  const last = get('/metrics', 'Connection: close\r\n')
  const text = await exchange(port, get('/metrics').repeat(3) + last)
  t.equal(text.match(/^HTTP\/1.1 200 OK/gm)?.length, 4)
  t.equal(counts.renderings, 1)
})
