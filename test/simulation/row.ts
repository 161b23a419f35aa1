import type { StoredAttachment } from '../../gateway/src/record/row.ts'

/** A table row. */
export interface Row {
  /** UUIDv7. */
  id: string
  /** ISO 8601. */
  time: string
  received_at: string
  device_uuid: string
  /** The content that the client sent; identifies the submission. */
  text: string
  attachments: Pick<StoredAttachment, 'key'>[]
}

/** The month of a time, as `2026-11`. In ClickHouse, `toYYYYMM` has this role. */
export function monthOf(time: string): string {
  return time.slice(0, 7)
}
