import type { Subject } from './subject.ts'

/** The columns of a row that identify its sender. */
export interface SenderOfRow {
  received_at: string
  bundle_identifier: string
  device_uuid: string
  unique_user_id: string
  api_key_id: string
}

/** The first columns of a row, as the gateway prints them, up to the API key. */
const head = /^\{(?:"\w+":"(?:[^"\\]|\\.)*",)*?"api_key_id":"(?:[^"\\]|\\.)*"/

/** Undefined if the text is no JSON object. Parses only the beginning of a gateway's row. */
export function senderOfRow(json: string): SenderOfRow | undefined {
  const start = head.exec(json)?.[0]
  try {
    const row = JSON.parse(start === undefined ? json : `${start}}`) as SenderOfRow | null
    return typeof row === 'object' && row !== null ? row : undefined
  } catch {
    return undefined
  }
}

/** True also for a row that cannot be read, because it may belong to the subject. */
export function isOf(subject: Subject, sender: SenderOfRow | undefined): boolean {
  if (sender === undefined) return true
  if (subject.kind === 'api-key') {
    const at = Date.parse(sender.received_at)
    const isInRange = at >= subject.from.getTime() && at < subject.to.getTime()
    return sender.api_key_id === subject.id && isInRange
  }
  const { bundleIdentifier = sender.bundle_identifier } = subject
  if (sender.bundle_identifier !== bundleIdentifier) return false
  return subject.kind === 'user'
    ? sender.unique_user_id === subject.id
    : sender.device_uuid.toLowerCase() === subject.id
}
