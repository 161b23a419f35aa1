import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A record to send. Its content is derived from its number, so that the checker can tell whether a
 * stored record is complete.
 */
export interface Payload {
  kind: 'logs' | 'feedback'
  keyed: boolean
  /**
   * The path of the request. If it is `/api/log/batch`, the body is compressed and has this record
   * as its only entry.
   */
  path: string
  /**
   * The idempotency key of the request. A log without a key can be retried only if its body has an
   * id.
   */
  idempotencyKey: string | undefined
  body: Record<string, unknown>
  /** The values that the views must show of the record. */
  expected: Record<string, unknown>
  images: Image[]
}

export interface Image {
  name: string
  type: string
  bytes: Buffer
  sha256: string
}

export interface PayloadOptions {
  /**
   * One of this many records is feedback, most of it with images. With 0, no record is feedback.
   */
  feedbackEvery: number
  /**
   * One of this many logs has an idempotency key or an id, so it can be retried; with 0, none has.
   * Feedback can always be retried.
   */
  keyedEvery: number
  root: string
}

const ways = ['header', 'reserved id', 'own id'] as const

/** The UUIDv7 for this time and number. */
function uuidV7(timeMs: number, seq: number): string {
  const time = timeMs.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(seq).padStart(12, '0')}`
}

const types = { jpg: 'image/jpeg', png: 'image/png', gif: 'image/gif', webp: 'image/webp' }

export function createPayloads(options: PayloadOptions): (seq: number) => Payload {
  const { feedbackEvery, keyedEvery, root } = options
  const images = ['photo.jpg', 'screenshot.png', 'steps.gif', 'crash.webp'].map((name): Image => {
    const bytes = readFileSync(join(root, 'test', 'images', name))
    const type = types[name.split('.').at(-1) as keyof typeof types]
    return { name, type, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
  })

  const madeAt = Date.now()

  return (seq) => {
    const head = {
      bundle_identifier: `com.example.app${seq % 3}`,
      device_uuid: `bd9c40f6-2f4f-4b8a-9d3b-${String(seq % 10 ** 12).padStart(12, '0')}`,
      unique_user_id: `user-${seq % 97}`,
      device: {
        os: seq % 2 === 0 ? 'Android' : 'iOS',
        battery_level: (seq % 200) / 2,
        sdk_version: seq % 40,
        seq,
      },
    }
    const shown = {
      seq,
      bundle_identifier: head.bundle_identifier,
      device_uuid: head.device_uuid,
      unique_user_id: head.unique_user_id,
      os: head.device.os,
      battery_level: head.device.battery_level,
      sdk_version: head.device.sdk_version,
    }
    if (feedbackEvery > 0 && seq % feedbackEvery === 0) {
      const text = `feedback ${seq}: ${filler(seq)}`
      const email = `user${seq}@example.com`
      const chosen = images.filter((_, index) => ((seq / feedbackEvery) & (1 << index)) !== 0)
      return {
        kind: 'feedback',
        keyed: true,
        path: '/api/feedback',
        idempotencyKey: `key-${seq}`,
        body: { ...head, feedback: { text, email } },
        expected: { ...shown, text, email, sha256: chosen.map(({ sha256 }) => sha256) },
        images: chosen,
      }
    }
    const event = `event_${seq % 7}`
    const params = { seq, square: seq * seq, text: filler(seq), nested: { even: seq % 2 === 0 } }
    const keyed = keyedEvery > 0 && seq % keyedEvery === 0
    const id = `0b000000-0000-4000-8000-${String(seq).padStart(12, '0')}`
    // There are three ways to make a retry safe. Logs that can be retried use them in turn.
    const way = keyed ? ways[Math.floor(seq / keyedEvery) % ways.length] : 'none'
    const log = {
      event,
      params,
      ...(way === 'reserved id' && { id }),
      ...(way === 'own id' && { id: uuidV7(madeAt, seq) }),
    }
    const batched = way === 'reserved id' || (way === 'own id' && seq % 3 === 0)
    return {
      kind: 'logs',
      keyed,
      path: batched ? '/api/log/batch' : '/api/log',
      idempotencyKey: way === 'header' ? `key-${seq}` : undefined,
      body: { ...head, ...(batched ? { logs: [log] } : { log }) },
      expected: { ...shown, event, params },
      images: [],
    }
  }
}

/** A text of 64 to 512 characters. */
function filler(seq: number): string {
  const unit = createHash('sha256').update(String(seq)).digest('hex')
  return unit.repeat(1 + (seq % 8))
}
