import { Queue } from 'bullmq'
import { createFrame, queueNames, queuePrefix } from '@intake/queue'
import { backlogOf, framesLeft, untilDone } from '../kit/observe.ts'
import { enqueueRows, logRow } from '../kit/rows.ts'
import { until } from '@intake/test-kit/until'
import { compress } from '@intake/queue/frame'
import type { Scenario, Stage } from '../scenario.ts'

/** A row that ClickHouse rejects. */
const poisoned = (json: string, fields: object = {}) =>
  JSON.stringify({ ...JSON.parse(json), device: { battery_level: 'a great deal' }, ...fields })

function frameOf(...rows: string[]) {
  const ndjson = rows.map((row) => `${row}\n`).join('')
  return createFrame({ rows: rows.length, jsonBytes: ndjson.length, ...compress(ndjson) })
}

/** Adds jobs to the log queue that no gateway of this version would add. */
async function addRaw({ cluster }: Stage, data: object[]): Promise<Queue> {
  const queue = new Queue(queueNames.logs, { connection: cluster.keys, prefix: queuePrefix })
  for (const one of data) {
    await queue.add('logs', one, { attempts: Number.MAX_SAFE_INTEGER, removeOnComplete: true })
  }
  return queue
}

export const poisonScenarios: Scenario[] = [
  {
    id: 'F20',
    title:
      'one poison row in an insert batch of 20 frames, worker killed after it wrote the dead letter: only this row has one',
    load: { rate: 20 },
    cluster: { workers: 0 },
    async run(stage) {
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
      const rows = [...good.map(({ json }) => json), poisoned(bad.json)]
      for (const { seq, id } of good) {
        await history.append({ seq, attempt: 1, is: 'issued', keyed: false, kind: 'logs' })
        await history.append({ seq, attempt: 1, is: 'acknowledged', id, ms: 0 })
      }
      await addRaw(stage, [frameOf(...rows)])
      await enqueueRows({ cluster, history, frames: frames.slice(11) })
      const enqueued = await framesLeft(cluster.keys)
      const worker = await cluster.addWorker()
      const letters = () =>
        cluster.sql.query<{ id: string }>('SELECT toString(id) AS id FROM intake.dead_letters')
      const rejected = 'intake_insert_failures_total{kind="logs",failure="rejected"}'
      await until('the dead letter exists', async () => (await letters()).length === 1, {
        progress: () => cluster.metric(worker, rejected),
        everyMs: 100,
      })
      await worker.kill()
      await cluster.addWorker()
      await untilDone(cluster.keys, enqueued)
      const found = await letters()
      expect(found.length === 1 && found[0]?.id === bad.id, 'only the bad row is a dead letter')
    },
  },
  {
    id: 'F20b',
    title: 'poison rows of two devices with the same id: a dead letter for each',
    load: { rate: 20 },
    async run(stage) {
      const { cluster, acknowledged, payload, expect } = stage
      const { json } = logRow(payload(1), new Date())
      const devices = [1, 2].map((n) => `bd9c40f6-2f4f-4b8a-9d3b-00000000000${n}`)
      await addRaw(
        stage,
        devices.map((device_uuid) => frameOf(poisoned(json, { device_uuid }))),
      )
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
      const frame = frameOf(json)
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
