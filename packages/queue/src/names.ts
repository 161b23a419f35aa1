/** The hash tag of every queue key, so that one Redis Cluster slot holds them all. */
export const queuePrefix = '{intake}'

/** A queue for each kind of record, and one for the counts of outcomes. */
export const queueNames = { logs: 'logs', feedback: 'feedback', outcomes: 'outcomes' } as const
export type QueueName = keyof typeof queueNames
