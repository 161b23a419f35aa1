import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Everything a record is follows from its number, so that whoever reads it can tell if it is whole. */
export interface Payload {
  kind: 'logs' | 'feedback'
  keyed: boolean
  /** Sent as the one entry of a compressed batch. */
  batched: boolean
  body: Record<string, unknown>
  /** What the views must show of it. */
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
  /** One of so many is feedback, most of it with images. 0: none. */
  feedbackEvery: number
  /** One of so many logs carries an idempotency key; feedback always does. 0: none. */
  keyedEvery: number
  root: string
}

const types = { jpg: 'image/jpeg', png: 'image/png', gif: 'image/gif', webp: 'image/webp' }

export function createPayloads(options: PayloadOptions): (seq: number) => Payload {
  const { feedbackEvery, keyedEvery, root } = options
  const images = ['photo.jpg', 'screenshot.png', 'steps.gif', 'crash.webp'].map((name): Image => {
    const bytes = readFileSync(join(root, 'test', 'images', name))
    const type = types[name.split('.').at(-1) as keyof typeof types]
    return { name, type, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
  })

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
        batched: false,
        body: { ...head, feedback: { text, email } },
        expected: { ...shown, text, email, sha256: chosen.map(({ sha256 }) => sha256) },
        images: chosen,
      }
    }
    const event = `event_${seq % 7}`
    const params = { seq, square: seq * seq, text: filler(seq), nested: { even: seq % 2 === 0 } }
    const keyed = keyedEvery > 0 && seq % keyedEvery === 0
    const batched = keyed && seq % 2 === 0
    const id = `0b000000-0000-4000-8000-${String(seq).padStart(12, '0')}`
    return {
      kind: 'logs',
      keyed,
      batched,
      body: {
        ...head,
        ...(batched ? { logs: [{ event, params, id }] } : { log: { event, params } }),
      },
      expected: { ...shown, event, params },
      images: [],
    }
  }
}

/** 64 to 512 characters. */
function filler(seq: number): string {
  const unit = createHash('sha256').update(String(seq)).digest('hex')
  return unit.repeat(1 + (seq % 8))
}
