import type { ApiKey } from '@intake/access'
import type { IntakeError, RecordKind } from '@intake/contract'
import type { DeviceLimits } from './device-limits.ts'
import { findDevice } from './find-device.ts'
import type { KeyUsage } from './key-usage.ts'
import { hasRoom, limited } from './room.ts'

/**
 * Counts the requests of devices that have used up their share. They have a count of their own, as
 * high as the key's limit of requests, so the other devices can still use that limit.
 */
export interface OverShare {
  /**
   * Counts a request of such a device, and returns its error. When the count is used up, the request
   * counts for its key, because the key's limit must hold for a device that `requireShare` cannot
   * find, and for feedback.
   */
  refuse(key: ApiKey, kind: RecordKind): IntakeError
  /**
   * Checks a request with log events before its JSON is parsed: when the count is used up, refuses a
   * request that names a device beyond its share. Such a request counts nowhere.
   *
   * @param json the JSON of the request, or its beginning (see `findDevice`)
   * @throws {IntakeError} `rate_limited`
   */
  requireShare(key: ApiKey, json: Buffer): void
}

/** What a device takes from its share when it is only looked up. */
const nothing = { kind: 'logs', records: 0, attachmentBytes: 0 } as const

export function createOverShare(options: { usage: KeyUsage; devices: DeviceLimits }): OverShare {
  const { usage, devices } = options
  /** The keys that have used up the count. It is empty as a rule, so no request pays for the check. */
  const flooded = new Set<string>()

  const errorOf = (kind: RecordKind) =>
    limited('This device sends more than its share.', devices.msLeft(kind))

  return {
    refuse(key, kind) {
      const { minute, max } = usage.of(key)
      const { requestsPerMinute } = max
      if (hasRoom(minute.overShare, 1, requestsPerMinute)) {
        minute.overShare.add(1, requestsPerMinute)
        minute.requests.add(-1, requestsPerMinute)
      } else {
        flooded.add(key.id)
      }
      return errorOf(kind)
    },

    requireShare(key, json) {
      if (!flooded.has(key.id)) return
      const { minute, max } = usage.of(key)
      if (hasRoom(minute.overShare, 1, max.requestsPerMinute)) {
        flooded.delete(key.id)
        return
      }
      const member = findDevice(json)
      if (member === undefined) return
      const device = { account: key.id, member }
      if (devices.take(device, nothing, max.deviceEventsPerMinute)) return
      minute.requests.add(-1, max.requestsPerMinute)
      throw errorOf('logs')
    },
  }
}
