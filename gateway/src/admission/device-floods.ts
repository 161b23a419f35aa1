import type { ApiKey } from '@intake/access'
import type { IntakeError, RecordKind } from '@intake/contract'
import { findDevice } from './find-device.ts'
import type { KeyUsage } from './key-usage.ts'
import { limited } from './limits.ts'
import type { DeviceLimits } from './sketch-limits.ts'

/**
 * Counts the requests of devices that have used up their share. They have a count of their own, as
 * high as the key's limit of requests, so the other devices can still use that limit.
 */
export interface DeviceFloods {
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
  /** The ids of the keys that have used up the count; empty as a rule. */
  readonly floodedKeys: ReadonlySet<string>
}

/** What a device takes from its share when it is only looked up. */
const nothing = { kind: 'logs', records: 0, attachmentBytes: 0 } as const

export function createDeviceFloods(options: {
  usageOf: (key: ApiKey) => KeyUsage
  devices: DeviceLimits
}): DeviceFloods {
  const { usageOf, devices } = options
  const floodedKeys = new Set<string>()

  const errorOf = (kind: RecordKind) =>
    limited('This device sends more than its share.', devices.msLeft(kind))

  return {
    floodedKeys,

    refuse(key, kind) {
      const { requests, flooding, max } = usageOf(key)
      const { requestsPerMinute } = max
      if (flooding.total() < requestsPerMinute) {
        flooding.add(1, requestsPerMinute)
        requests.add(-1, requestsPerMinute)
      } else {
        floodedKeys.add(key.id)
      }
      return errorOf(kind)
    },

    requireShare(key, json) {
      if (!floodedKeys.has(key.id)) return
      const { requests, flooding, max } = usageOf(key)
      if (flooding.total() < max.requestsPerMinute) {
        floodedKeys.delete(key.id)
        return
      }
      const member = findDevice(json)
      if (member === undefined) return
      const device = { account: key.id, member }
      if (devices.take(device, nothing, max.deviceEventsPerMinute)) return
      requests.add(-1, max.requestsPerMinute)
      throw errorOf('logs')
    },
  }
}
