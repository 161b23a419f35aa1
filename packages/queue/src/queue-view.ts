import { Job, Queue, type JobType } from 'bullmq'
import type { Redis } from '@intake/redis'
import { readJobContent } from './job-id.ts'
import { shardPrefix } from './shards.ts'

/** The maximum number of jobs of one state that are read at once. */
const jobsMax = 100
/** The fields that BullMQ stores for a job, except its data. */
const fields = [
  'name',
  'opts',
  'delay',
  'priority',
  'timestamp',
  'processedOn',
  'finishedOn',
  'failedReason',
  'stacktrace',
  'ats',
  'atm',
  'stc',
] as const

/**
 * A queue for the UI. Frames can have megabytes, so the data of a job is not read. Instead its jobs
 * have what their ids contain: `rows`, `jsonBytes` and `receivedAt`.
 */
export class QueueView extends Queue {
  readonly #redis: Redis

  /** @param options.redis of the role `consumer`; it belongs to the caller */
  constructor(options: {
    redis: Redis
    name: string
    shard: number
    onError: (error: Error) => void
  }) {
    const { redis, name, shard, onError } = options
    super(name, { connection: redis, prefix: shardPrefix(shard), skipMetasUpdate: true })
    this.#redis = redis
    this.on('error', onError)
  }

  override async getJobs(
    types?: JobType[] | JobType,
    start = 0,
    end = -1,
    asc = false,
  ): Promise<Job[]> {
    const states = types === undefined ? [] : [types].flat()
    const last = start + jobsMax - 1
    const ids = await this.getRanges(states, start, end < 0 ? last : Math.min(end, last), asc)
    const jobs = await Promise.all(ids.map((id) => this.getJob(id)))
    return jobs.filter((job) => job !== undefined)
  }

  override async getJob(id: string): Promise<Job | undefined> {
    const values = await this.#redis.hmget(this.toKey(id), ...fields)
    const raw = Object.fromEntries(fields.map((field, index) => [field, values[index]]))
    if (raw['name'] == null) return undefined
    const number = (field: (typeof fields)[number]) => Number(raw[field] ?? 0)
    const json = {
      id,
      name: raw['name'],
      data: JSON.stringify(readJobContent(id)),
      opts: Job.optsFromJSON(raw['opts'] ?? '{}'),
      progress: 0,
      delay: number('delay'),
      priority: number('priority'),
      timestamp: number('timestamp'),
      processedOn: number('processedOn'),
      finishedOn: number('finishedOn'),
      failedReason: raw['failedReason'] ?? '',
      stacktrace: raw['stacktrace'] ?? '[]',
      attemptsStarted: number('ats'),
      attemptsMade: number('atm'),
      stalledCounter: number('stc'),
      returnvalue: 'null',
    }
    return Job.fromJSON(this, json, id)
  }
}
