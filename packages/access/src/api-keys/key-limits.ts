/** What each limit of an API key limits. A limit per day is called a budget. */
export const keyLimits = {
  requestsPerMinute: 'requests in a minute, whatever they contain',
  eventsPerMinute: 'log events in a minute; each entry of a batch counts',
  logBytesPerMinute: 'bytes of JSON of log events in a minute',
  feedbackPerMinute: 'feedback in a minute',
  attachmentBytesPerMinute: 'bytes of attachments in a minute',
  deviceEventsPerMinute: 'log events of one device in a minute',
  eventsPerDay: 'log events in a day (UTC)',
  bytesPerDay: 'bytes of JSON and attachments in a day (UTC)',
} as const

export type KeyLimitName = keyof typeof keyLimits
export type BudgetName = Extract<KeyLimitName, `${string}PerDay`>

export const keyLimitNames = Object.keys(keyLimits) as KeyLimitName[]
export const budgetNames = keyLimitNames.filter((name) => name.endsWith('PerDay')) as BudgetName[]

/** What a key may send. If a limit is absent, the gateway's limit applies; there is none for a day. */
export type KeyLimits = Partial<Record<KeyLimitName, number>>

export const hasBudget = (limits: KeyLimits): boolean =>
  budgetNames.some((name) => limits[name] !== undefined)

export const isLimit = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0
