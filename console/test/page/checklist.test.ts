import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createSandbox } from '@intake/sandbox'
import t from 'tap'
import { checklist } from '../../src/page/views/checklist.ts'
import type { Header } from '../../src/page/worker-state.ts'

const run = promisify(execFile)

t.test('the commands of the checklist are accepted as they stand', async (t) => {
  const sandbox = await createSandbox()
  t.teardown(() => sandbox.close())
  const page = checklist({
    header: { nowMs: Date.now() } as Header,
    data: { firstAtMs: { logs: null, feedback: null }, names: new Map() },
    isNew: true,
    urls: [sandbox.url],
  })
  const commands = [...String(page).matchAll(/<pre>\n?([^]*?)<\/pre>/g)].map(([, text = '']) =>
    text.replaceAll('&#39;', "'").replaceAll('&#34;', '"').replace('YOUR_KEY', sandbox.apiKey),
  )
  for (const command of commands) {
    const { stdout } = await run('sh', ['-c', command])
    t.match(stdout, /successfully created/, command)
  }
  t.match(sandbox.records(), [
    { kind: 'log', event: 'hello', params: { from: 'curl' } },
    { kind: 'feedback', text: 'Hello!', email: 'me@example.com' },
  ])
})
