/** The two kinds of record. Each has its own queue and table, so that feedback never waits for logs. */
export const kinds = ['logs', 'feedback'] as const
export type RecordKind = (typeof kinds)[number]

/** The hash tag of every queue key, so that one Redis Cluster slot holds them all. */
export const queuePrefix = '{intake}'

export const queueNames: Record<RecordKind, string> = { logs: 'logs', feedback: 'feedback' }
