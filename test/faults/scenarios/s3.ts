import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { startS3 } from '@intake/local'
import { join } from 'node:path'
import type { Cluster } from '../kit/cluster.ts'
import { startHttpFake } from '../kit/http-fake.ts'
import { blackHole } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import type { Scenario, Stage } from '../scenario.ts'

/**
 * The rate is low, because clients retry refused feedback: the load grows as long as the fault
 * lasts.
 */
const load = { rate: 50, feedbackEvery: 10 }
/** How long the fault lasts: longer than the gateway retries. */
const faultMs = 12_000

/** Checks that a fault of the object store does not affect logs. */
async function expectLogsUnaffected(
  stage: Stage,
  fault: () => Promise<void> | void,
): Promise<void> {
  const { history, expect, acknowledged } = stage
  await acknowledged(100)
  const from = history.events.length
  await fault()
  await pause(faultMs)
  const hasRefused = () =>
    history.events.some((one) => one.is === 'refused' && one.code === 'storage_unavailable')
  await until('feedback with images is refused', hasRefused)
  const logs = new Set<number>()
  const refused: string[] = []
  let slowest = 0
  for (const event of history.events.slice(from)) {
    if (event.is === 'issued' && event.kind === 'logs') logs.add(event.seq)
    if (event.is === 'issued' || !logs.has(event.seq)) continue
    if (event.is === 'acknowledged') slowest = Math.max(slowest, event.ms)
    else refused.push(event.is === 'refused' ? event.code : event.is)
  }
  expect(refused.length === 0, `no log is refused (these are: ${refused.join(', ')})`)
  expect(slowest < 3_000, `no log waits for the object store (one took ${slowest} ms)`)
  expect(logs.size > 100, 'logs were sent during the fault')
}

/** Makes S3 respond to every upload with this error. */
async function respondWith({ cluster, later }: Stage, status: number, code: string): Promise<void> {
  const concerns = ({ method }: IncomingMessage) => method === 'PUT'
  const fake = await startHttpFake({ target: cluster.s3.port(), concerns })
  later(() => fake.close())
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>a fake failure</Message></Error>`
  fake.set({ is: 'answered', status, headers: { 'content-type': 'application/xml' }, body })
  redirect(cluster, fake.port)
}

function redirect({ network }: Cluster, port: number): void {
  network.gatewayToS3.redirect(port)
  network.gatewayToS3.cut()
}

/** What S3 does, and how. `heal` of the cluster ends a kill, a freeze and faults of the network. */
const faults: [id: string, title: string, fault: (stage: Stage) => Promise<void> | void][] = [
  ['F42a', 'S3 killed under load: storage_unavailable', ({ cluster }) => cluster.s3.kill()],
  ['F42b', 'S3 frozen under load', ({ cluster }) => cluster.s3.freeze()],
  [
    'F42c',
    'S3 unreachable (every packet lost)',
    ({ cluster }) => cluster.network.gatewayToS3.set(blackHole),
  ],
  [
    'F42d',
    'S3 responds with 403',
    async ({ cluster, dir, later }) => {
      const other = await startS3({ dataDir: join(dir, 's3-other'), port: 0 })
      later(() => other.stop())
      redirect(cluster, other.port)
    },
  ],
  ['F42e', 'S3 responds with 503 SlowDown', (stage) => respondWith(stage, 503, 'SlowDown')],
  [
    'F44',
    'disk of S3 full (507 XMinioStorageFull)',
    (stage) => respondWith(stage, 507, 'XMinioStorageFull'),
  ],
]

export const s3Scenarios = faults.map(([id, title, fault]): Scenario => ({
  id,
  title: `${title}, logs unaffected`,
  load,
  async run(stage) {
    await expectLogsUnaffected(stage, () => fault(stage))
    redirect(stage.cluster, stage.cluster.s3.port())
    await stage.cluster.heal()
    await stage.acknowledged(100)
  },
}))
