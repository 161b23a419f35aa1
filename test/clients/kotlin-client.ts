import t from 'tap'
import { createSandbox } from '@intake/sandbox'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startStack } from '@intake/test-kit/running-stack'
import { serveDriver } from '../../clients/javascript/adapters/serve-driver.ts'
import { checkExactlyOnce } from '../../clients/javascript/test/through-faults.ts'
import { runConformance } from '../../clients/conformance/src/index.ts'
import { buildKotlin } from './kotlin-build.ts'
import { createKotlinDriver } from './kotlin-driver.ts'

/** The number of device properties that log events contain; feedback has twelve more. */
const logFields = 17

t.test('the tests of the Kotlin client pass, on Android 14 by Robolectric too', async (t) => {
  const sandbox = await createSandbox()
  t.teardown(() => sandbox.close())
  const settings = [`-Dintake.url=${sandbox.url}`, `-Dintake.key=${sandbox.apiKey}`]
  const output = await buildKotlin('clean', 'package', ...settings)
  const [, run, skipped] = /Tests run: (\d+), .*Skipped: (\d+)\s*$/m.exec(output) ?? []
  t.ok(Number(run) >= 20, `${run} tests`, { output })
  t.equal(skipped, '0')
  for (const line of output.matchAll(/^(log\(\)|blocked host).*$/gm)) t.comment(line[0])

  const records = sandbox.records()
  const fieldsOf = (kind: string, user: string) =>
    records
      .filter((record) => record.kind === kind && record.unique_user_id === user)
      .map((record) => Object.keys(record.device).length)
  t.same(fieldsOf('log', 'all'), [logFields], 'log events carry what is meant for them')
  t.same(fieldsOf('feedback', 'all'), [29], 'feedback carries all of the device')
  t.same(fieldsOf('log', 'odd'), [logFields])
  t.same(fieldsOf('feedback', 'odd'), [27], 'without what the device does not know')
  const pictures = records.flatMap(({ attachments = [] }) => attachments)
  t.equal(pictures.length, 2)
})

t.test('the Kotlin client passes the conformance suite', async (t) => {
  const { url, close } = await serveDriver(createKotlinDriver())
  t.teardown(close)
  const { results } = await runConformance({ adapter: url })
  for (const { title, outcome, seen, requests } of results) {
    t.not(outcome, 'failed', title, { seen, requests })
  }
  const needless = results.filter(({ outcome }) => outcome === 'not applicable')
  t.equal(needless.length, 5, 'only a page can be closed, and files respond')
})

t.test('10,000 events of the Kotlin client become as many rows, each once', async (t) => {
  const dataDir = createDataDir(t)
  const stack = await startStack(t, { dataDir, env: { RATE_LIMIT_MAX: '1000000' } })
  await checkExactlyOnce(t, {
    platform: 'kotlin',
    stack,
    dataDir,
    events: 10_000,
    createDriver: createKotlinDriver,
  })
})
