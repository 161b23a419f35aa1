import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { answerDeadlinesMs, check } from './kit/checker.ts'
import { startCluster, type Cluster } from './kit/cluster.ts'
import { openHistory } from './kit/history.ts'
import { backlogOf } from './kit/observe.ts'
import { createPayloads } from './kit/payload.ts'
import { startProducer, type Producer } from './kit/producer.ts'
import { createRandom } from '@intake/test-kit/random'

/** The faults in order, and what an operator sees of each. */
const steps: { say: string; expect: string; parts: (cluster: Cluster) => Killable[] }[] = [
  {
    say: 'a worker is killed',
    expect: 'the other worker continues; frames of the dead one are redelivered within 30 s',
    parts: ({ workers }) => [workers[0]!],
  },
  {
    say: 'a gateway is killed',
    expect: 'its clients cannot connect; they retry keyed records at the other gateway',
    parts: ({ gateways }) => [gateways[0]!],
  },
  {
    say: 'ClickHouse is killed',
    expect: 'clients notice nothing; frames wait in Redis',
    parts: ({ clickhouse }) => [clickhouse],
  },
  {
    say: 'the S3 server is killed',
    expect: 'feedback with images is refused and retried; logs are still accepted',
    parts: ({ s3 }) => [s3],
  },
  {
    say: 'Redis is killed',
    expect: 'every request is refused with 503 until Redis is back; nothing accepted is lost',
    parts: ({ redis }) => [redis],
  },
  {
    say: 'everything is killed at once',
    expect: 'connections are refused until all are back; nothing accepted is lost',
    parts: ({ redis, clickhouse, s3, gateways, workers }) => [
      redis,
      clickhouse,
      s3,
      ...gateways,
      ...workers,
    ],
  },
]
interface Killable {
  kill(): Promise<void>
  start(): Promise<void>
}

const calmMs = 4_000
const downMs = 4_000
const rate = 200
/** How long the status line waits for the number from ClickHouse. */
const viewPatienceMs = 700
const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '')
const began = performance.now()
const dir = mkdtempSync(join(tmpdir(), 'intake-drill-'))
const terminal = process.stdout.isTTY

console.log('Intake drill: every component is killed under load. Takes less than two minutes.')
console.log('Starting Redis, ClickHouse, S3, two gateways and two workers on free ports ...')
const random = createRandom(Date.now())
const cluster = await startCluster({ dataDir: dir, root, random, gateways: 2, workers: 2 })
const ending = (): void => void end(1)
process.once('SIGINT', ending).once('SIGTERM', ending)

const history = openHistory(join(dir, 'history.jsonl'))
const payload = createPayloads({ feedbackEvery: 25, keyedEvery: 4, root })
const { apiKey, inRotation } = cluster
const producer = startProducer({ urls: inRotation, apiKey, history, payload, rate })
say(`Load: ${rate} records a second, some with idempotency keys, some feedback with images.`)

let now = 'no fault'
const view = setInterval(() => void showStatus(producer), 1_000)
for (const step of steps) {
  await pause(calmMs)
  say(`>>> ${step.say}: ${step.expect}`)
  now = step.say
  const parts = step.parts(cluster)
  await Promise.all(parts.map((part) => part.kill()))
  await pause(downMs)
  await Promise.all(parts.map((part) => part.start()))
  say('    started again')
  now = 'no fault'
}
await pause(calmMs)
now = 'the load has ended, the backlog drains'
say(`>>> ${now}: frames of a killed worker are redelivered within 30 s`)
await cluster.heal()
await producer.stop()
const { counts, violations } = await check({
  cluster,
  events: history.events,
  payload,
  deadlinesMs: answerDeadlinesMs,
})
clearInterval(view)

const seconds = Math.round((performance.now() - began) / 1000)
const extra = counts.visible - counts.acknowledged
say('')
say(`After ${seconds} s:`)
say(`  ${counts.acknowledged} records were acknowledged (201).`)
say(`  ${counts.visible} records are visible in ClickHouse, each once.`)
say(
  `  The responses for ${extra} of them were lost: the sender could not know. No record appears twice.`,
)
say(`  ${counts.refused} attempts were refused (503 or no connection): visible only if retried and`)
say('  then acknowledged.')
say(
  `  Survived: ${counts.redeliveries} redeliveries, ${counts.duplicateRows} rows inserted twice, ` +
    `${counts.unknown} responses lost.`,
)
for (const violation of violations) say(`  BROKEN: ${violation}`)
say('')
say(
  violations.length === 0
    ? 'VERDICT: guarantees kept. Acknowledged = visible, each once, every payload and image as it was sent.'
    : 'VERDICT: guarantees BROKEN, see above.',
)
await end(violations.length === 0 ? 0 : 1)

async function showStatus({ counts: countsOf }: Producer): Promise<void> {
  const { issued, acknowledged, refused, unknown } = countsOf()
  const counted = cluster.sql
    .query<{ n: number }>(
      'SELECT (SELECT count() FROM intake.logs) + count() AS n FROM intake.feedback',
    )
    .then(([row]) => String(row?.n ?? 0))
    .catch(() => '?')
  const visible = await Promise.race([counted, pause(viewPatienceMs, '?')])
  const frames = await backlogOf(cluster.keys)
    .then(({ waiting, active }) => String(waiting + active))
    .catch(() => '?')
  const status =
    `${clock()}  attempts ${issued}  acknowledged ${acknowledged}  visible ${visible}  ` +
    `refused ${refused}  outcome unknown ${unknown}  frames in the queue ${frames}  | ${now}`
  if (terminal) process.stdout.write(`\r\u001B[K${status.slice(0, process.stdout.columns - 1)}`)
  else console.log(status)
}

function say(sentence: string): void {
  if (terminal) process.stdout.write('\r\u001B[K')
  console.log(sentence)
}

function clock(): string {
  const passed = Math.round((performance.now() - began) / 1000)
  return `${Math.floor(passed / 60)}:${String(passed % 60).padStart(2, '0')}`
}

async function end(code: number): Promise<never> {
  await cluster.close()
  await rm(dir, { recursive: true, force: true })
  process.exit(code)
}
