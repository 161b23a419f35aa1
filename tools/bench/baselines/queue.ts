import { Redis } from 'ioredis'
import type { Coding } from '@intake/queue/frame'
import type { LogRow } from './row.ts'

/** The queue of a variant; each has its own. */
export const queueName = process.env['DATABASE'] ?? ''
export const queuePrefix = '{bench}'

export type EventJob = LogRow
/** A job of the variant `durable`: many rows, as lines of JSON, compressed, in base64. */
export interface FrameJob {
  coding: Coding
  frame: string
}

export const connect = () =>
  new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null })
