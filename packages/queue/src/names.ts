/**
 * The hash tag of the queue keys. It keeps the keys in one slot of a Redis Cluster. Only the log
 * queue may have further shards, whose keys have other tags (shards.ts).
 */
export const queuePrefix = '{intake}'

/** A queue for each kind of record, and one for the counts of outcomes. */
export const queueNames = { logs: 'logs', feedback: 'feedback', outcomes: 'outcomes' } as const
export type QueueName = keyof typeof queueNames
export const queueKinds = Object.keys(queueNames) as QueueName[]

/**
 * The lists and sets in which BullMQ keeps the ids of jobs that are not completed. A job moves
 * between them in one step. Intake's jobs are never prioritized and never fail, and only earlier
 * versions of BullMQ use `paused`. `prioritized`, `failed` and `paused` are read anyway, so that no
 * frame is missed.
 */
export const jobLists = ['wait', 'paused', 'active'] as const
export const jobSets = ['delayed', 'prioritized', 'failed'] as const

/** The hash in which BullMQ notes that a queue is paused. */
export const queueSettings = 'meta'
