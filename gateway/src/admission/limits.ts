import type { KeyLimitName } from '@intake/access'
import type { GatewayConfig } from '@intake/config'
import { IntakeError, type RecordKind } from '@intake/contract'

export interface RequestSize {
  kind: RecordKind
  /** The number of log events; 1 for a feedback. */
  records: number
  attachmentBytes: number
  /** The size of the JSON after decompression plus the size of the attachments. */
  bytes: number
}

export type Unit = Exclude<keyof RequestSize, 'kind'>

export interface Limit {
  /** The setting with the limit of keys that have no limit of their own; undefined: unlimited. */
  setting: keyof GatewayConfig | undefined
  /** A key is limited in all gateways together, each of its devices in one gateway. */
  scope: 'key' | 'device'
  window: 'minute' | 'day'
  /** What is counted: requests, or a part of their contents. */
  unit: Unit | 'requests'
  kinds: readonly RecordKind[]
  /** The name of the shared count after the key's id. Budgets have one a day (`dayCountName`). */
  count: string
  /** What is counted, in the text of the error. */
  what: string
}

const minute = { scope: 'key', window: 'minute' } as const
const day = { scope: 'key', window: 'day', setting: undefined, count: '' } as const
const device = { scope: 'device', window: 'minute', count: '' } as const

/**
 * All limits, in the order in which a request is compared with them. Those that a key can have of
 * its own have the names of `KeyLimits`. Requests are counted when they begin, everything else when
 * the whole request has arrived.
 */
export const limitTable = {
  requestsPerMinute: {
    ...minute,
    setting: 'RATE_LIMIT_MAX',
    unit: 'requests',
    kinds: ['logs', 'feedback'],
    // No suffix, because gateways of earlier versions share this count under the same name.
    count: '',
    what: 'requests',
  },
  eventsPerMinute: {
    ...minute,
    setting: 'EVENTS_PER_MINUTE_MAX',
    unit: 'records',
    kinds: ['logs'],
    count: ':events',
    what: 'events',
  },
  logBytesPerMinute: {
    ...minute,
    setting: 'LOG_BYTES_PER_MINUTE_MAX',
    unit: 'bytes',
    kinds: ['logs'],
    count: ':log-bytes',
    what: 'bytes of events',
  },
  feedbackPerMinute: {
    ...minute,
    setting: 'FEEDBACK_PER_MINUTE_MAX',
    unit: 'records',
    kinds: ['feedback'],
    count: ':feedback',
    what: 'feedback',
  },
  attachmentBytesPerMinute: {
    ...minute,
    setting: 'ATTACHMENT_BYTES_PER_MINUTE_MAX',
    unit: 'attachmentBytes',
    kinds: ['feedback'],
    count: ':attachment-bytes',
    what: 'attachments',
  },
  eventsPerDay: { ...day, unit: 'records', kinds: ['logs'], what: 'events' },
  bytesPerDay: { ...day, unit: 'bytes', kinds: ['logs', 'feedback'], what: 'bytes' },
  deviceEventsPerMinute: {
    ...device,
    setting: 'DEVICE_EVENTS_PER_MINUTE_MAX',
    unit: 'records',
    kinds: ['logs'],
    what: 'events',
  },
  deviceFeedbackPerMinute: {
    ...device,
    setting: 'DEVICE_FEEDBACK_PER_MINUTE_MAX',
    unit: 'records',
    kinds: ['feedback'],
    what: 'feedback',
  },
} as const satisfies Record<KeyLimitName | 'deviceFeedbackPerMinute', Limit>

export type LimitName = keyof typeof limitTable
export const limitNames = Object.keys(limitTable) as LimitName[]

export function defaultLimits(config: GatewayConfig): Record<LimitName, number> {
  const maxOf = ({ setting }: Limit) => (setting === undefined ? Infinity : Number(config[setting]))
  return Object.fromEntries(limitNames.map((name) => [name, maxOf(limitTable[name])])) as Record<
    LimitName,
    number
  >
}

export function limited(detail: string, msLeft: number): IntakeError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msLeft / 1_000))
  return new IntakeError('rate_limited', detail, { retryAfterSeconds })
}
