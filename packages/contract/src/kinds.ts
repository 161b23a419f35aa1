/** Each has its own queue and table, so that feedback never waits for logs. */
export const kinds = ['logs', 'feedback'] as const
export type RecordKind = (typeof kinds)[number]
