import { Queue } from 'bullmq'
import { createFrame, queueNames, queuePrefix } from '@intake/queue'
import type { AppProcess } from '@intake/test-kit/app-process'
import { backlogOf, framesLeft, untilDone } from '../kit/observe.ts'
import { enqueueRows, logRow } from '../kit/rows.ts'
import { until } from '@intake/test-kit/until'
import { compress } from '@intake/queue/frame'
import type { Scenario, Stage } from '../scenario.ts'

/** Adds jobs to the log queue that no gateway of this version would add. */
async function addRaw({ cluster }: Stage, data: object[]): Promise<Queue> {
  const queue = new Queue(queueNames.logs, { connection: cluster.keys, prefix: queuePrefix })
  for (const one of data) {
    await queue.add('logs', one, { attempts: Number.MAX_SAFE_INTEGER, removeOnComplete: true })
  }
  return queue
}

/**
 * Enqueues 20 frames, of which one has a bad row, and expects that only this row is dead-lettered.
 *
 * @param afterDeadLetter runs when the dead letter exists; other frames may still be in progress
 */
async function poisonOneRow(
  stage: Stage,
  afterDeadLetter: (worker: AppProcess) => Promise<void>,
): Promise<void> {
  const { cluster, history, payload, expect } = stage
  const frames = Array.from(Array(20).keys(), (frame) =>
    Array.from(Array(10).keys(), (index) => {
      const seq = 1_000_001 + (frame * 10 + index) * 25
      return { seq, ...logRow(payload(seq), new Date()) }
    }),
  )
  await enqueueRows({ cluster, history, frames: frames.slice(0, 10) })
  const good = frames[10]!.slice(1)
  const bad = frames[10]![0]!
  const poison = { ...JSON.parse(bad.json), device: { battery_level: 'a great deal' } }
  const ndjson = [...good.map(({ json }) => json), JSON.stringify(poison)].join('\n')
  for (const { seq, id } of good) {
    await history.append({ seq, attempt: 1, is: 'issued', keyed: false, kind: 'logs' })
    await history.append({ seq, attempt: 1, is: 'acknowledged', id, ms: 0 })
  }
  await addRaw(stage, [
    createFrame({ rows: 10, jsonBytes: ndjson.length + 1, ...compress(`${ndjson}\n`) }),
  ])
  await enqueueRows({ cluster, history, frames: frames.slice(11) })
  const enqueued = await framesLeft(cluster.keys)
  const worker = await cluster.addWorker()
  await until(
    'the dead letter exists',
    async () => {
      const [row] = await cluster.sql.query<{ n: number }>(
        'SELECT count() AS n FROM intake.dead_letters',
      )
      return row?.n === 1
    },
    { progress: () => cluster.metric(worker, failures), everyMs: 100 },
  )
  await afterDeadLetter(worker)
  await untilDone(cluster.keys, enqueued)
  const letters = await cluster.sql.query<{ id: string }>(
    'SELECT toString(id) AS id FROM intake.dead_letters',
  )
  expect(letters.length === 1 && letters[0]?.id === bad.id, 'only the bad row is a dead letter')
}

/** The metric that counts inserts that ClickHouse rejected because of their content. */
const failures = 'intake_insert_failures_total{kind="logs",failure="rejected"}'

export const poisonScenarios: Scenario[] = [
  {
    id: 'F20',
    title: 'one poison row in an insert batch of 20 frames: only this row is dead-lettered',
    load: { rate: 20 },
    cluster: { workers: 0 },
    run: (stage) => poisonOneRow(stage, async () => {}),
  },
  {
    id: 'F20b',
    title: 'worker killed after it wrote a dead letter: there is still only one',
    load: { rate: 20 },
    cluster: { workers: 0 },
    run: (stage) =>
      poisonOneRow(stage, async (worker) => {
        await worker.kill()
        await stage.cluster.addWorker()
      }),
  },
  {
    id: 'F20c',
    title: 'poison rows of two devices with the same id: a dead letter for each',
    load: { rate: 20 },
    async run(stage) {
      const { cluster, acknowledged, payload, expect } = stage
      const { json } = logRow(payload(1), new Date())
      const poison = { ...JSON.parse(json), device: { battery_level: 'a great deal' } }
      const devices = [1, 2].map((n) => `bd9c40f6-2f4f-4b8a-9d3b-00000000000${n}`)
      const rows = devices.map((device_uuid) => JSON.stringify({ ...poison, device_uuid }))
      const frames = rows.map((row) =>
        createFrame({ rows: 1, jsonBytes: row.length + 1, ...compress(`${row}\n`) }),
      )
      await addRaw(stage, frames)
      const letters = async () => {
        const found = await cluster.sql.query<{ device: string }>(
          'SELECT toString(device_uuid) AS device FROM intake.dead_letters ORDER BY device',
        )
        return found.map(({ device }) => device)
      }
      await until('both have been dead-lettered', async () => {
        return (
          (await cluster.metric(cluster.workers[0]!, 'intake_dead_letters_total{kind="logs"}')) >= 2
        )
      })
      const kept = await letters()
      expect(
        String(kept) === String(devices),
        `each device has its dead letter (${kept.join(', ')})`,
      )
      await acknowledged(50)
    },
  },
  {
    id: 'F19',
    title: 'frames with an unknown version or a wrong checksum are kept; others are not delayed',
    async run(stage) {
      const { cluster, acknowledged, payload, expect, keeps } = stage
      const { json } = logRow(payload(1), new Date())
      const frame = createFrame({
        rows: 1,
        jsonBytes: json.length + 1,
        ...compress(`${json}\n`),
      })
      await acknowledged(50)
      await addRaw(stage, [
        { ...frame, v: 99 },
        { ...frame, crc32: frame.crc32 ^ 1 },
      ])
      await until('both are postponed', async () => (await backlogOf(cluster.keys)).delayed === 2)
      const unreadable = await cluster.metric(
        cluster.workers[0]!,
        'intake_frames_unreadable_total{kind="logs"}',
      )
      expect(unreadable === 2, `both are counted (${unreadable})`)
      keeps(2)
      await acknowledged(150)
    },
  },
]
