import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { version } from '@intake/runtime'
import { describeSummary } from '../src/status/describe-summary.ts'
import { summarize } from '../src/status/summary.ts'

/** What `intake status` prints if a worker is at the address of a program that responds `body`. */
async function printed(t: Test, body: unknown): Promise<string> {
  const server = createServer((_, response) => response.end(JSON.stringify(body)))
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return describeSummary(await summarize([{ service: 'worker', url }]), new Date())
}

const status = {
  service: 'worker',
  state: 'ok',
  problems: [],
  version,
  started_at: new Date().toISOString(),
}

t.test('a process of another version is shown with its version', async (t) => {
  t.notMatch(await printed(t, status), /version/)
  const text = await printed(t, { ...status, version: '0.0.7' })
  t.match(text, /^Intake is ok\./)
  t.match(text, `version 0.0.7, not ${version} as this command`)
})

t.test('another program does not respond as a process of Intake', async (t) => {
  for (const body of [null, 'ok', [], { status: 'ok' }, { ...status, problems: 'none' }]) {
    const text = await printed(t, body)
    t.match(text, /^Intake is down\./)
    t.match(text, 'another program responds there')
  }
})
