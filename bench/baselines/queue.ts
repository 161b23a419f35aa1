import { Redis } from 'ioredis'

/** The queue of the variant `naive`: one job per event. */
export const eventQueue = { name: process.env['DATABASE'] ?? '', prefix: '{bench}' }

export const connect = () =>
  new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null })
