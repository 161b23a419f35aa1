/** What a key may send. If a limit is absent, the gateway's limit applies. */
export type KeyLimits = Partial<Record<KeyLimitName, number>>

export const keyLimitNames = [
  'requestsPerMinute',
  'eventsPerMinute',
  'logBytesPerMinute',
  'feedbackPerMinute',
  'attachmentBytesPerMinute',
  'deviceEventsPerMinute',
  'eventsPerDay',
  'bytesPerDay',
] as const
export type KeyLimitName = (typeof keyLimitNames)[number]

/** Whether a value is a valid limit: a whole number from 1. */
export const isLimit = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0
