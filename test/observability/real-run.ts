// `npm run test:observability` runs this file; see tools/scripts/test-suite.mjs.
import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { stringify } from 'yaml'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startStack } from '@intake/test-kit/running-stack'
import { until } from '@intake/test-kit/until'
import { startWebhookReceiver } from '@intake/test-kit/webhook-receiver'
import { alertQueries, dashboardQueries, folder, withRateInterval } from './files.ts'
import { startLoad } from './load.ts'
import { namedMetrics } from './named-metrics.ts'
import { problemCases } from './problem-cases.ts'
import { startPrometheus } from './prometheus.ts'

const run = promisify(execFile)
/** The number of scrapes to wait for. They take 75 seconds, longer than the range of any `rate`. */
const scrapes = 15
/** Dashboard queries that return nothing, or only NaN, while nothing is wrong. */
const emptyWhenHealthy = new Set(['overview: Problems A', 'gateway: Shed records A'])

t.test('promtool accepts the configuration and the rules', async (t) => {
  const problems = join(createDataDir(t), 'problems.yml')
  const rule_files = [join(folder, 'alerts.yml')]
  writeFileSync(
    problems,
    stringify({ rule_files, evaluation_interval: '5s', tests: problemCases() }),
  )
  for (const args of [
    ['check', 'config', 'prometheus.yml'],
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
    ['test', 'rules', problems],
  ]) {
    const { stdout } = await run('promtool', args, { cwd: folder })
    t.match(stdout, 'SUCCESS', args.join(' '))
    t.notMatch(stdout, 'FAILED', args.join(' '))
  }
})

t.test('a real Prometheus and a real load', async (t) => {
  const dataDir = createDataDir(t)
  const receiver = await startWebhookReceiver()
  t.teardown(() => receiver.close())
  const { endpoints } = await startStack(t, {
    dataDir,
    env: {
      FEEDBACK_WEBHOOK_URL: receiver.url,
      FEEDBACK_WEBHOOK_SECRET: 'a secret of the test',
    },
  })
  const adminUrls = [endpoints.gatewayAdmin, endpoints.workerAdmin ?? '', endpoints.page]
  const [gateway, worker, page] = adminUrls.map((url) => new URL(url).host)
  const prometheus = await startPrometheus({
    dir: join(dataDir, 'prometheus'),
    targets: {
      'intake-gateway': [gateway!],
      'intake-worker': [worker!],
      'intake-console': [page!],
    },
  })
  t.teardown(() => prometheus.stop())
  const load = startLoad(endpoints)
  t.teardown(() => load.stop())

  await until(
    'all are scraped for a minute',
    async () => {
      const counts = await prometheus.query('count_over_time(up[10m])')
      return counts.length === 3 && counts.every(({ values }) => Number(values[0]![1]) >= scrapes)
    },
    { everyMs: 1_000 },
  )
  t.same(
    await prometheus.targets(),
    ['intake-console', 'intake-gateway', 'intake-worker'].map((job) => ({
      job,
      health: 'up',
      lastError: '',
    })),
  )

  await t.test('every query of the dashboards has data', async (t) => {
    for (const { where, expr } of dashboardQueries()) {
      const hasData = async () => {
        const series = await prometheus.query(withRateInterval(expr))
        return series.some(({ values }) => Number.isFinite(Number(values[0]![1])))
      }
      // On a busy machine ClickHouse, which runs at idle priority, stores its first rows late.
      if (emptyWhenHealthy.has(where)) await hasData()
      else t.ok(await until(`there is data for ${where}: ${expr}`, hasData, { everyMs: 1_000 }))
    }
  })

  await t.test('every rule is evaluated without an error, and no alert fires', async (t) => {
    for (const { where, expr } of alertQueries()) t.same(await prometheus.query(expr), [], where)
    const firing = 'count_over_time(ALERTS{alertstate="firing"}[10m])'
    t.same(await prometheus.query(firing), [], 'at any time')
  })

  await t.test('every metric that is named somewhere exists', async (t) => {
    const texts = await Promise.all(
      adminUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()),
    )
    const exist = new Set(
      Array.from(texts.join('\n').matchAll(/^# TYPE (\w+) /gm), ([, name]) => name!),
    )
    const named = namedMetrics()
    t.ok(named.size > 40, `${named.size} names`)
    for (const [name, where] of named) t.ok(exist.has(name), `${name} in ${where}`)
  })

  await t.test('promtool has no complaint about a metric of Intake', async (t) => {
    for (const url of adminUrls) {
      const text = await (await fetch(`${url}/metrics`)).text()
      t.same(complaints(text), [], url)
    }
  })

  t.comment(`responses: ${JSON.stringify(Object.fromEntries(load.statuses))}`)
})

/**
 * Runs `promtool check metrics`. Returns its lines about Intake's metrics, and its lines that
 * report an error. The exit code is ignored, because a line about any other metric also makes
 * promtool fail.
 */
function complaints(text: string): string[] {
  try {
    execFileSync('promtool', ['check', 'metrics'], { input: text, stdio: 'pipe' })
    return []
  } catch (error) {
    const { stdout, stderr } = error as { stdout: Buffer; stderr: Buffer }
    return `${stdout.toString()}\n${stderr.toString()}`
      .split('\n')
      .filter((line) => line.startsWith('intake_') || /error|parse/i.test(line))
  }
}
