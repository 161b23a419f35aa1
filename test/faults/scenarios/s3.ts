import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { startS3 } from '@intake/local'
import { join } from 'node:path'
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

/** Makes S3 respond to every upload with this error, and checks that logs are not affected. */
async function respondWith(stage: Stage, status: number, code: string): Promise<void> {
  const { cluster } = stage
  const proxy = cluster.network.gatewayToS3
  const concerns = ({ method }: IncomingMessage) => method === 'PUT'
  const fake = await startHttpFake({ target: cluster.s3.port(), concerns })
  stage.later(() => fake.close())
  await expectLogsUnaffected(stage, () => {
    const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>a fake failure</Message></Error>`
    fake.set({ is: 'answered', status, headers: { 'content-type': 'application/xml' }, body })
    proxy.redirect(fake.port)
    proxy.cut()
  })
  fake.set({ is: 'passed' })
  await stage.acknowledged(100)
}

export const s3Scenarios: Scenario[] = [
  {
    id: 'F42a',
    title: 'S3 killed under load: storage_unavailable, logs unaffected',
    load,
    async run(stage) {
      await expectLogsUnaffected(stage, () => stage.cluster.s3.kill())
      await stage.cluster.s3.start()
      await stage.acknowledged(100)
    },
  },
  {
    id: 'F42b',
    title: 'S3 frozen under load, logs unaffected',
    load,
    async run(stage) {
      await expectLogsUnaffected(stage, () => stage.cluster.s3.freeze())
      stage.cluster.s3.thaw()
      await stage.acknowledged(100)
    },
  },
  {
    id: 'F42c',
    title: 'S3 unreachable (every packet lost), logs unaffected',
    load,
    async run(stage) {
      const { gatewayToS3 } = stage.cluster.network
      await expectLogsUnaffected(stage, () => gatewayToS3.set(blackHole))
      gatewayToS3.set()
      await stage.acknowledged(100)
    },
  },
  {
    id: 'F42d',
    title: 'S3 responds with 403, logs unaffected',
    load,
    async run(stage) {
      const { cluster } = stage
      const other = await startS3({ dataDir: join(stage.dir, 's3-other'), port: 0 })
      stage.later(() => other.stop())
      await expectLogsUnaffected(stage, () => {
        cluster.network.gatewayToS3.redirect(other.port)
        cluster.network.gatewayToS3.cut()
      })
      cluster.network.gatewayToS3.redirect(cluster.s3.port())
      cluster.network.gatewayToS3.cut()
      await stage.acknowledged(100)
    },
  },
  {
    id: 'F42e',
    title: 'S3 responds with 503 SlowDown, logs unaffected',
    load,
    run: (stage) => respondWith(stage, 503, 'SlowDown'),
  },
  {
    id: 'F44',
    title: 'disk of S3 full (507 XMinioStorageFull), logs unaffected',
    load,
    run: (stage) => respondWith(stage, 507, 'XMinioStorageFull'),
  },
]
