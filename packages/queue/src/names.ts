/**
 * The hash tag of every queue key, so that one Redis Cluster slot holds them all. Only the log queue may have
 * more shards, each with a tag of its own (shards.ts).
 */
export const queuePrefix = '{intake}'

/** A queue for each kind of record, and one for the counts of outcomes. */
export const queueNames = { logs: 'logs', feedback: 'feedback', outcomes: 'outcomes' } as const
export type QueueName = keyof typeof queueNames

/**
 * Where BullMQ keeps the ids of jobs that are not completed. A job moves between them in one step. None of
 * ours is ever prioritized or failed, and only former versions of BullMQ have a list of paused ones; whoever
 * looks for every frame looks there too.
 */
export const jobLists = ['wait', 'paused', 'active'] as const
export const jobSets = ['delayed', 'prioritized', 'failed'] as const

/** The hash in which BullMQ notes that a queue is paused. */
export const queueSettings = 'meta'
