import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { s3Client } from '@intake/test-kit/s3-client'
import type { Cluster } from './cluster.ts'
import type { Violations } from './violations.ts'

/** The values that analysts see of one record; `shown` must equal `expected` of `payload.ts`. */
export interface Row {
  id: string
  kind: 'logs' | 'feedback'
  attachments: { key: string; sha256: string }[]
  shown: Record<string, unknown> & { seq: number }
}

const head = `toString(id) AS id, bundle_identifier, toString(device_uuid) AS device_uuid,
  unique_user_id, device.os AS os, device.battery_level AS battery_level,
  device.sdk_version AS sdk_version, device_extra.seq::Int64 AS seq`

/**
 * Reads the records that analysts see.
 *
 * @param where an SQL condition on the columns that both views have
 */
export async function visibleRows({ sql }: Cluster, where = 'true'): Promise<Row[]> {
  const logs = await sql.query<{ id: string; seq: number }>(
    `SELECT ${head}, event, params FROM intake.logs WHERE ${where}`,
  )
  const feedback = await sql.query<{
    id: string
    seq: number
    attachments: { key: string; sha256: string }[]
  }>(`SELECT ${head}, text, email, attachments FROM intake.feedback WHERE ${where}`)
  return [
    ...logs.map(({ id, ...shown }): Row => ({ id, kind: 'logs', attachments: [], shown })),
    ...feedback.map(({ id, attachments, ...shown }): Row => {
      const sha256 = attachments.map((one) => one.sha256)
      return { id, kind: 'feedback', attachments, shown: { ...shown, sha256 } }
    }),
  ]
}

/** Checks that every image of a visible row is in the object store, byte for byte. */
export async function checkAttachments({ s3 }: Cluster, rows: Row[], violations: Violations) {
  const client = s3Client(s3.url())
  for (const { attachments } of rows) {
    for (const { key, sha256 } of attachments) {
      try {
        const body = await buffer(await client.getObject('intake', key))
        const actual = createHash('sha256').update(body).digest('hex')
        if (actual !== sha256) violations.add('attachment differs', key)
      } catch {
        violations.add('attachment missing', key)
      }
    }
  }
}
