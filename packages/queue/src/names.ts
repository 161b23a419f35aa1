import type { RecordKind } from '@intake/contract'

/** The hash tag of every queue key, so that one Redis Cluster slot holds them all. */
export const queuePrefix = '{intake}'

export const queueNames: Record<RecordKind, string> = { logs: 'logs', feedback: 'feedback' }
