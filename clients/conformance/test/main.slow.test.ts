import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runCommand } from '../src/command.ts'
import { startSender } from './support.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

const run = (args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })

t.test('exit code 0: no case failed; the results are also written as JSON', async (t) => {
  const adapter = await startSender(t)
  const folder = mkdtempSync(join(tmpdir(), 'intake-conformance-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const json = join(folder, 'results.json')
  const only = 'drops a single event'
  const { code, stdout } = await run(['--adapter', adapter, '--only', only, '--json', json])
  t.equal(code, 0)
  t.match(stdout, /^passed {10}drops a single event that gets 413/)
  t.match(stdout, /javascript: 1 passed, 0 failed, 0 not applicable\.\n$/)
  t.match(JSON.parse(readFileSync(json, 'utf8')), { results: [{ outcome: 'passed' }] })
})

t.test('exit code 1: a case failed, and the table says what was seen', async (t) => {
  const adapter = await startSender(t, { flaw: 'retries 400' })
  const { code, stdout } = await run(['--adapter', adapter, '--only', 'does not repeat a 400'])
  t.equal(code, 1)
  t.match(stdout, /^failed {10}does not repeat a 400.*\n *event 1 was sent 2 times/)
})

t.test('exit code 1: used wrongly, or without an adapter', async (t) => {
  const errors = t.capture(console, 'error')
  const adapter = await startSender(t)
  for (const [args, error] of [
    [[], /^--adapter must be a URL\./],
    [['--adaptor', 'x'], /Unknown option '--adaptor'/],
    [['--adapter', 'http://127.0.0.1:9'], /no response/],
    [['--adapter', adapter, '--only', 'no such title'], /^No case has "no such title" in its/],
  ] as const) {
    t.equal(await runCommand([...args]), 1)
    t.match(errors(), [{ args: [error] }])
  }
})

t.test('--list prints every case and what it needs', async (t) => {
  const { code, stdout } = await run(['--list'])
  t.equal(code, 0)
  t.match(stdout, 'never lets feedback give way to logs (feedback, bounds)\n')
})
