import { randomInt } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { limits, type RecordKind } from '@intake/contract'
import type { Clock } from '@intake/runtime'

/**
 * The number of cells per row of each sketch. With these numbers, if a million devices each send an
 * event a second, counts are about 114 too high at the end of the minute.
 */
const deviceWidth: Record<RecordKind, number> = { logs: 2 ** 19, feedback: 2 ** 15 }
const mebibyte = 1024 * 1024

export type DeviceLimits = ReturnType<typeof createDeviceLimits>

/**
 * Limits each device to a share of its key's limit, so that a device that sends without end does
 * not use up what other devices may send. Each gateway counts only the requests that it receives.
 * The memory does not depend on the number of devices.
 *
 * @param options.feedbackMax records that a device may send in a minute; each mebibyte of
 * attachments, rounded up, counts as one more
 */
export function createDeviceLimits(options: { feedbackMax: number; clock: Pick<Clock, 'now'> }) {
  const { feedbackMax, clock } = options
  const sketchOf = (kind: RecordKind) => createWindowSketch({ width: deviceWidth[kind], clock })
  const sketches = { logs: sketchOf('logs'), feedback: sketchOf('feedback') }
  return {
    /**
     * Counts what a device sends. Returns false if it has used up its share of this minute.
     *
     * @param device `account` is the id of the API key, `member` the UUID of the device
     * @param eventsMax log events that the device may send in a minute
     */
    take(
      device: Counted,
      size: { kind: RecordKind; records: number; attachmentBytes: number },
      eventsMax: number,
    ): boolean {
      const { kind, records, attachmentBytes } = size
      if (kind === 'logs') return sketches.logs.take(device, records, eventsMax)
      const weight = records + Math.ceil(attachmentBytes / mebibyte)
      return sketches.feedback.take(device, weight, feedbackMax)
    },
    msLeft: (kind: RecordKind) => sketches[kind].msLeft(),
  }
}

export type AddressLimit = ReturnType<typeof createAddressLimit>

const addressWidth = 2 ** 15

/**
 * Limits how often each client address may do something in a minute, such as send a wrong API key.
 * It needs half a megabyte of memory for any number of addresses.
 */
export function createAddressLimit(options: {
  addressOf: (request: IncomingMessage) => string
  max: number
  clock: Pick<Clock, 'now'>
}) {
  const { addressOf, max, clock } = options
  const sketch = createWindowSketch({ width: addressWidth, clock })
  return {
    /** Counts one action; returns false if the address has reached its limit. */
    take: (request: IncomingMessage) =>
      sketch.take({ account: '', member: addressOf(request) }, 1, max),
    msLeft: sketch.msLeft,
  }
}

interface Counted {
  account: string
  member: string
}

const rows = 4

/**
 * Limits what each sender does in a window of time, with a fixed amount of memory: a count-min
 * sketch with conservative update. A sender's count is never too low. It is too high by about the
 * sum of all counts divided by `width`. This error is the same for all senders, so the limit of a
 * sender should be far above it. The hash is different in every process, so that no sender can
 * choose with whom it shares its cells.
 *
 * @param options.width cells per row, a power of two; each of the four rows has four bytes per cell
 */
export function createWindowSketch(options: { width: number; clock: Pick<Clock, 'now'> }) {
  const { width, clock } = options
  const cells = new Uint32Array(width * rows)
  const places = new Uint32Array(rows)
  const [seed, step] = [randomInt(2 ** 31), randomInt(2 ** 31)]
  let endsAt = -Infinity

  /** Sets `places` to the cells of a sender. Upper and lower case are not distinguished. */
  function locate(account: string, member: string): void {
    let first = seed
    let second = step
    for (const text of [account, member]) {
      for (let index = 0; index < text.length; index++) {
        const code = text.charCodeAt(index) | 0x20
        first = Math.imul(first ^ code, 0x01000193)
        second = Math.imul(second ^ code, 0x5bd1e995)
        second ^= second >>> 15
      }
      // Marks the end of the text, so that account `a` with member `bc`, and account `ab` with
      // member `c`, have different hashes.
      first = Math.imul(first ^ 0x100, 0x01000193)
    }
    first = mix(first)
    second = mix(second) | 1
    for (let row = 0; row < rows; row++) {
      places[row] = row * width + (((first + Math.imul(row, second)) >>> 0) & (width - 1))
    }
  }

  return {
    msLeft: () => Math.max(0, endsAt - clock.now()),
    /**
     * Counts `amount` and returns true, unless the sender has used up `max` in this window. The
     * amount that first exceeds the limit is still counted.
     */
    take({ account, member }: Counted, amount: number, max: number): boolean {
      const now = clock.now()
      if (now >= endsAt) {
        cells.fill(0)
        endsAt = now + limits.rateWindowMs
      }
      locate(account, member)
      let count = Infinity
      for (const place of places) count = Math.min(count, cells[place] as number)
      if (count >= max) return false
      const counted = Math.min(count + amount, 0xffffffff)
      for (const place of places) cells[place] = Math.max(cells[place] as number, counted)
      return true
    },
  }
}

/** Mixes all bits of a hash into its lowest bits, because only the lowest bits select a cell. */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
