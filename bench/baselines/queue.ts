import { Redis } from 'ioredis'

/** The queue of the BullMQ baselines: one job per event. `redis-list` uses only its prefix. */
export const eventQueue = { name: process.env['DATABASE'] ?? '', prefix: '{bench}' }

export const connect = () =>
  new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null })
