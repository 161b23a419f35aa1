import { randomBytes, randomUUID } from 'node:crypto'
import { enqueueLogs } from '@intake/test-kit/enqueue'
import { until } from '@intake/test-kit/until'
import type { Cluster } from './cluster.ts'
import type { History } from './history.ts'
import type { Payload } from './payload.ts'

/** A UUIDv7 for this time, and the time in the format of rows. */
function identityAt(time: Date): { id: string; time: string } {
  const hex = time.getTime().toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `7${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return { id: [...parts, hex.slice(20)].join('-'), time: time.toISOString() }
}

/** The row that a gateway would create from a log event received at this time. */
export function logRow(payload: Payload, time: Date): { id: string; json: string } {
  const { bundle_identifier, device_uuid, unique_user_id, device } = payload.body
  const { seq, ...known } = device as { seq: number }
  const { event, params } = payload.expected
  const identity = identityAt(time)
  const row = {
    ...identity,
    received_at: identity.time,
    request_id: randomUUID(),
    bundle_identifier,
    device_uuid,
    unique_user_id,
    api_key_id: 'key_faults',
    device: known,
    device_extra: { seq },
    event,
    params,
  }
  return { id: identity.id, json: JSON.stringify(row) }
}

/**
 * Enqueues one frame per group of rows, as a gateway does. Writes each row to the history as
 * issued. When Redis has confirmed a frame, writes the rows of the frame as acknowledged.
 */
export async function enqueueRows(options: {
  cluster: Cluster
  history: History
  frames: { seq: number; id: string; json: string }[][]
}): Promise<void> {
  const { cluster, history, frames } = options
  for (const { seq } of frames.flat()) {
    await history.append({ seq, attempt: 1, is: 'issued', keyed: false, kind: 'logs' })
  }
  const json = frames.map((rows) => rows.map((row) => row.json))
  await enqueueLogs(cluster.keys, json, async (index) => {
    for (const { seq, id } of frames[index]!) {
      await history.append({ seq, attempt: 1, is: 'acknowledged', id, ms: 0 })
    }
  })
}

/** The number of log rows ever inserted, duplicates included. */
export async function rawRows({ sql }: Cluster): Promise<number> {
  const [row] = await sql.query<{ rows: number }>('SELECT count() AS rows FROM intake.logs_raw')
  return row?.rows ?? 0
}

/** Resolves when more log rows are stored than before; `before` is their number now by default. */
export async function untilMoreRows(cluster: Cluster, before?: number): Promise<void> {
  const least = before ?? (await rawRows(cluster))
  await until('more rows are stored', async () => (await rawRows(cluster)) > least)
}

/**
 * Lets no response of ClickHouse reach the workers; resolves when they have stored rows all the
 * same. Rows must be stored before, because a worker reads the columns before its first insert.
 */
export async function holdResponsesOfInserts(cluster: Cluster): Promise<void> {
  await untilMoreRows(cluster, 0)
  cluster.network.workerToClickHouse.set({ holdAnswers: true })
  await untilMoreRows(cluster)
}
