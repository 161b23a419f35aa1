import type { Test } from 'tap'
import type { Redis } from '@intake/redis'
import type { QueueName } from '../src/index.ts'
import { createJobSource, type JobSource } from '../src/consume.ts'
import { createFrameProducer, createJobSink, type JobSink } from '../src/produce.ts'

interface QueueOptions {
  kind?: QueueName
  shard?: number
}

/** Opens a queue for claims until the test ends. An error of the queue fails the test. */
export function openSource(t: Test, redis: Redis, options: QueueOptions = {}): JobSource {
  const onError = (error: Error) => t.fail(error)
  const source = createJobSource({ redis, kind: 'logs', onError, ...options })
  t.teardown(() => source.close())
  return source
}

/** Opens a queue for new jobs until the test ends. */
export function openSink(t: Test, redis: Redis, options: QueueOptions = {}): JobSink {
  const sink = createJobSink({ redis, kind: 'logs', ...options })
  t.teardown(() => sink.close())
  return sink
}

/** A frame with three rows of 700 bytes. */
export const frame = { rows: 3, jsonBytes: 700, coding: 'gzip', bytes: Buffer.from('x') } as const

export const soon = (ms = 60_000) => performance.now() + ms

export const addFrame = (sink: JobSink, receivedAtMs: number) =>
  createFrameProducer({ sink }).add({ ...frame, receivedAtMs }, soon())
