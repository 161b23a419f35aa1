import { createApiKeyStore } from '@intake/api-keys'
import { createClickHouse, migrate } from '@intake/clickhouse'
import { createObjectStore } from '@intake/object-store'
import { connectRedis } from '@intake/redis'
import { withDeadline } from '@intake/runtime'

import { StartError } from './start-error.ts'

const deadlineMs = 20_000

export interface PrepareOptions {
  redisUrl: string
  clickhouseUrl: string
  s3: { endpoint: string; bucket: string; region: string }
  apiKey: string
}

/**
 * Brings the services to the state the gateway and the workers expect: the schema, the bucket, the
 * API key. All of it may exist already.
 */
export async function prepare({ redisUrl, clickhouseUrl, s3, apiKey }: PrepareOptions) {
  await Promise.all([
    orSentence('Applying the migrations to ClickHouse', applyMigrations(clickhouseUrl)),
    orSentence(`Making the bucket ${s3.bucket} in the S3 store`, makeBucket(s3)),
    orSentence('Creating the API key in Redis', createApiKey(redisUrl, apiKey)),
  ])
}

async function applyMigrations(url: string) {
  const clickhouse = createClickHouse({ url, requestTimeoutMs: deadlineMs })
  try {
    await migrate({ clickhouse })
  } finally {
    await clickhouse.close()
  }
}

async function makeBucket(s3: PrepareOptions['s3']) {
  const store = createObjectStore({ ...s3, deadlineMs })
  try {
    await store.ensureBucket()
  } finally {
    store.close()
  }
}

async function createApiKey(url: string, secret: string) {
  let lastProblem = ''
  const onError = (error: Error) => (lastProblem = error.message)
  const redis = connectRedis({ url, role: 'consumer', onError })
  try {
    const created = createApiKeyStore({ redis }).create({ name: 'npm start', secret })
    await withDeadline(created, deadlineMs, 'it')
  } catch (error) {
    throw lastProblem === '' ? error : new Error(lastProblem, { cause: error })
  } finally {
    redis.disconnect()
  }
}

async function orSentence(what: string, work: Promise<void>) {
  try {
    await work
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new StartError(`${what} failed: ${why}.`, { cause })
  }
}
