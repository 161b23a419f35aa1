import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { startApp } from '@intake/test-kit/app'
import { until } from '@intake/test-kit/until'
import type { Address } from '../src/status/addresses.ts'
import { describeSummary } from '../src/status/describe-summary.ts'
import { summarize } from '../src/status/summary.ts'
import { logRow, startIntake, startServices } from './services.ts'

const { dataDir, endpoints, enqueue, intake, number, s3 } = await startServices(t, {
  unshared: true,
})

const appEnv = { ...endpoints, PORT: '0' }
const [gateway, worker] = await Promise.all([
  startApp(t, 'gateway', { dataDir, env: appEnv }),
  startApp(t, 'worker', { dataDir, env: appEnv }),
])

const addresses: Address[] = [
  { service: 'gateway', url: gateway.adminUrl() },
  { service: 'worker', url: worker.adminUrl() },
]
const given = ['--gateway', gateway.adminUrl(), '--worker', worker.adminUrl()]
const untilCodes = (...codes: string[]) =>
  until(`the problems are ${codes.join() || 'none'}`, async () => {
    const { problems } = await summarize(addresses)
    return problems.map(({ code }) => code).join() === codes.join()
  })

t.test('ok, with exit code 0, once both are up', async (t) => {
  // Repeats the command, because on a busy machine a queue may have a backlog when the command
  // runs.
  const { stdout } = await until('the command finds no problem', async () => {
    const outcome = await intake(['status', ...given])
    return outcome.code === 0 && outcome
  })
  t.match(stdout, /^Intake is ok\./)
  t.match(stdout, /^logs +0 +0 +0 +0 \+ 0 \+ 0 +0 s +0 s +0 +/m)
  t.match(stdout, new RegExp(`^gateway +${gateway.adminUrl()} +ok +up `, 'm'))
  t.match(stdout, new RegExp(`^worker +${worker.adminUrl()} +ok +up `, 'm'))
  t.match(stdout, /^Redis uses \d+ MiB of 512 MiB\.$/m)
})

t.test('a gateway at the address of a worker is no worker', async (t) => {
  const wrong = ['--gateway', gateway.adminUrl(), '--worker', gateway.adminUrl()]
  const { code, stdout } = await intake(['status', ...wrong])
  t.not(code, 0)
  t.match(stdout, `no status of the worker at ${gateway.adminUrl()}: a gateway responds there`)
})

t.test('a paused queue is a problem until it is resumed; its records wait', async (t) => {
  const paused = await intake(['queue', 'pause', '--kind', 'logs', '--json'])
  t.equal(paused.code, 0)
  t.match(JSON.parse(paused.stdout), [
    { queue: 'logs', paused: true },
    { queue: 'feedback', paused: false },
    { queue: 'outcomes', paused: false },
  ])
  const row = logRow()
  await enqueue([row])
  const summary = await until('the command finds both problems and no other', async () => {
    const { code, stdout } = await intake(['status', ...given, '--json'])
    const found = JSON.parse(stdout) as Awaited<ReturnType<typeof summarize>>
    return code === 2 && found.problems.length === 2 && found
  })
  t.match(summary, {
    state: 'degraded',
    problems: [
      {
        code: 'queue_paused',
        help: 'docs/operations/problems.md#queue_paused',
        from: [worker.adminUrl()],
      },
      { code: 'backlog' },
    ],
    services: [
      { service: 'gateway', state: 'ok' },
      { service: 'worker', backlog: { logs: { paused: true, rows: 1 } } },
    ],
  })
  const text = describeSummary(summary, new Date())
  t.match(
    text,
    /^queue_paused, for \d+ (?:s|min), at \S+\n  logs\n  docs\/operations\/problems.md#queue_paused$/m,
  )
  t.match(text, /^logs .* 1 \(paused\) +1 \+ 0 \+ 0 /m)

  t.match(await intake(['queue', 'resume']), {
    code: 0,
    stdout: /^logs\trunning\t.*\nfeedback\trunning\t/,
  })
  await until('the record is stored', async () => {
    return (await number(`count() AS n FROM intake.logs WHERE id = '${row.id}'`)) === 1
  })
  await untilCodes()
})

t.test('--watch repeats it until it is interrupted', async (t) => {
  const { child, exited } = startIntake(t, ['status', '--watch', '--json', ...given])
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  for (let ok = 0; ok < 2;) {
    const { value } = (await lines.next()) as { value: string }
    const summary = JSON.parse(value) as Awaited<ReturnType<typeof summarize>>
    t.equal(summary.services.length, 2)
    if (summary.state === 'ok') ok++
  }
  child.kill('SIGINT')
  t.same(await exited, [0, null])
})

t.test('a process that does not respond is process_ends; exit code 3 if none does', async (t) => {
  const url = worker.adminUrl()
  const oneOfTwo = await intake(['status'], {
    INTAKE_GATEWAY_ADMIN_URL: `${gateway.adminUrl()}, http://127.0.0.1:1`,
    INTAKE_WORKER_ADMIN_URL: url,
  })
  t.match(oneOfTwo, { code: 2, stdout: /^Intake is degraded\./ })
  await worker.kill()
  const { code, stdout } = await intake(['status'], {
    INTAKE_GATEWAY_ADMIN_URL: gateway.adminUrl(),
    // The object store responds, but it is not a worker.
    INTAKE_WORKER_ADMIN_URL: `${url}/, ${new URL(s3.url).origin}`,
  })
  t.equal(code, 3)
  t.match(stdout, /^Intake is accepting, not storing\./)
  t.match(stdout, `no status of the worker at ${url}: connect ECONNREFUSED`)
  t.match(stdout, `no status of the worker at ${new URL(s3.url).origin}: `)
  t.match(stdout, new RegExp(`^worker +${url} +no response$`, 'm'))
  t.match(stdout, 'docs/operations/process-ends.md')
})

t.test('without addresses it says what it looked for', async (t) => {
  const env = { INTAKE_DATA_DIR: join(dataDir, 'none') }
  t.match(await intake(['status'], env), {
    code: 1,
    stdout: '',
    stderr:
      /no --gateway, --worker or --console, INTAKE_GATEWAY_ADMIN_URL, .*none\/endpoints\.json does not exist: .* set INTAKE_DATA_DIR to their folder/,
  })
  t.match(await intake(['status', '--worker', '127.0.0.1:3002']), {
    code: 1,
    stderr: /^127\.0\.0\.1:3002 is not the URL of an admin port/,
  })
})
