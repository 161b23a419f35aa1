import { limits, type RecordKind } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import { createWindowSketch } from './window-sketch.ts'

/**
 * Limits each device to a share of its key's limit, so that a device that sends without end does
 * not use up what other devices may send. Each gateway counts only the requests that it receives.
 */
export interface DeviceLimits {
  /**
   * Counts what a device sends and returns true, or returns false if the device has used up its
   * share of this minute.
   *
   * @param device `account` is the id of the API key, `member` the UUID of the device
   * @param eventsMax log events that the device may send in a minute
   */
  take(
    device: { account: string; member: string },
    size: { kind: RecordKind; records: number; attachmentBytes: number },
    eventsMax: number,
  ): boolean
  /** Milliseconds until a device that was refused may send again. */
  msLeft(kind: RecordKind): number
  /** The memory that the counts use. It does not depend on the number of devices. */
  readonly bytes: number
}

/**
 * The number of cells per row of each sketch. With these numbers, if a million devices each send an
 * event a second, counts are about 114 too high at the end of the minute.
 */
const width: Record<RecordKind, number> = { logs: 2 ** 19, feedback: 2 ** 15 }
const mebibyte = 1024 * 1024

/**
 * Creates the limits of one gateway.
 *
 * @param options.feedbackMax the number of feedback records that a device may send in a minute;
 * each mebibyte of attachments, rounded up, counts as one more feedback
 */
export function createDeviceLimits(options: {
  feedbackMax: number
  clock: Pick<Clock, 'now'>
}): DeviceLimits {
  const { feedbackMax, clock } = options
  const sketchOf = (kind: RecordKind) =>
    createWindowSketch({ width: width[kind], windowMs: limits.rateWindowMs, clock })
  const sketches = { logs: sketchOf('logs'), feedback: sketchOf('feedback') }
  return {
    take(device, { kind, records, attachmentBytes }, eventsMax) {
      if (kind === 'logs') return sketches.logs.take(device, records, eventsMax)
      const weight = records + Math.ceil(attachmentBytes / mebibyte)
      return sketches.feedback.take(device, weight, feedbackMax)
    },
    msLeft: (kind) => sketches[kind].msLeft(),
    bytes: sketches.logs.bytes + sketches.feedback.bytes,
  }
}
