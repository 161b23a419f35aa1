/**
 * The hash tag of the keys: one slot of a Redis Cluster. Further shards have others (shards.ts).
 */
export const queuePrefix = '{intake}'

/** A queue for each kind of record, and one for the counts of outcomes. */
export const queueNames = { logs: 'logs', feedback: 'feedback', outcomes: 'outcomes' } as const
export type QueueName = keyof typeof queueNames
export const queueKinds = Object.keys(queueNames) as QueueName[]

export const perQueue = <Value>(of: (kind: QueueName) => Value): Record<QueueName, Value> =>
  Object.fromEntries(queueKinds.map((kind) => [kind, of(kind)])) as Record<QueueName, Value>

/**
 * BullMQ's lists and sets of jobs that are not completed. A job moves between them in one step.
 * Intake's jobs are never in `prioritized` or `failed`, nor in `paused` of earlier BullMQs; they
 * are read so that no frame is missed.
 */
export const jobLists = ['wait', 'paused', 'active'] as const
export const jobSets = ['delayed', 'prioritized', 'failed'] as const

export const queueSettings = 'meta'
