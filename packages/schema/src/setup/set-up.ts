import { createApiKeyStore } from '@intake/access'
import {
  ClickHouseError,
  explainFailure,
  MigrationError,
  withClickHouse,
  type ClickHouse,
} from '@intake/clickhouse'
import { createObjectStore, type ObjectStoreSettings } from '@intake/object-store'
import { describeRefusal, ReplyError, withRedis, type Redis } from '@intake/redis'
import { defineAnalysts } from '../analysts/define.ts'
import { findMissingTables } from '../inspect/schema.ts'
import { migrate, repairViews } from '../migrate.ts'
import { joinInstallation, SetupError } from './installation.ts'

export { SetupError }

export interface SetupOptions {
  redisUrl: string
  clickhouseUrl: string
  /** The cluster with the tables; default: a single server. */
  clickhouseCluster?: string | undefined
  /** The `time` from which on records are spread over all shards that the cluster has now. */
  newShardsFrom?: Date | undefined
  s3: ObjectStoreSettings
  apiKey?: { name: string; secret: string }
  /** Continues with a Redis whose data of this installation is lost. */
  acceptEmptyRedis: boolean
  /** Who sets up, for the journal. */
  who?: string
}

const timeoutMs = 20_000

/**
 * Can run at every start: it does not change what is as expected. `waiting` analysts need an
 * administrator.
 * @throws {SetupError} if a service cannot be used, or belongs to another installation or version
 */
export async function setUp(
  options: SetupOptions,
): Promise<{ applied: string[]; waiting: string[] }> {
  const { redisUrl, s3, apiKey, acceptEmptyRedis, newShardsFrom, who = 'setup' } = options
  const { clickhouseUrl: url, clickhouseCluster: cluster } = options
  return withClickHouse({ url, cluster, requestTimeoutMs: timeoutMs }, async (clickhouse) => {
    const migrated = migrate({ clickhouse, newShardsFrom })
    const { applied } = await step('Updating the tables in ClickHouse', migrated)
    const views = await step('Repairing the views in ClickHouse', repairViews(clickhouse))
    await step('Comparing the tables in ClickHouse', requireTables(clickhouse))
    const analysts = await step('Defining the analysts in ClickHouse', defineAnalysts(clickhouse))
    await step(`Creating the bucket ${s3.bucket}`, makeBucket(s3), 'S3_ENDPOINT')
    const prepare = async (redis: Redis) => {
      await step('Setting up Redis', joinInstallation({ clickhouse, redis, acceptEmptyRedis, who }))
      if (apiKey) await step('Creating the API key', createApiKey({ redis, who }, apiKey))
    }
    // A `SetupError` is returned and thrown later. If it were thrown here, an error of the
    // connection could replace it.
    const prepared = withRedis({ url: redisUrl, timeoutMs }, (redis) =>
      prepare(redis).catch((error: unknown) => {
        if (error instanceof SetupError) return error
        throw error
      }),
    )
    const refusal = await step('Using Redis', prepared, 'REDIS_URL')
    if (refusal instanceof SetupError) throw refusal
    return {
      applied: [
        ...applied,
        ...views.map((name) => `view ${name}`),
        ...analysts.defined.map((name) => `analyst ${name}`),
      ],
      waiting: analysts.waiting,
    }
  })
}

/** An empty table in its place would hide that its data is lost or elsewhere. */
async function requireTables(clickhouse: ClickHouse): Promise<void> {
  const missing = await findMissingTables(clickhouse)
  if (missing.length === 0) return
  throw new SetupError(
    `ClickHouse lacks what an applied migration created: ${missing.join('; ')} ` +
      '(docs/operations/clickhouse-schema.md).',
  )
}

async function createApiKey(
  store: { redis: Redis; who: string },
  apiKey: { name: string; secret: string },
): Promise<void> {
  const { key } = await createApiKeyStore(store).create(apiKey)
  if (key.revokedAt === null) return
  throw new SetupError(`The API key ${key.id} was revoked: set INTAKE_API_KEY to another one.`)
}

async function makeBucket(s3: ObjectStoreSettings): Promise<void> {
  const store = createObjectStore({ ...s3, timeoutMs })
  try {
    await store.ensureBucket()
  } finally {
    store.close()
  }
}

async function step<T>(what: string, work: Promise<T>, setting?: string): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof SetupError) throw cause
    if (cause instanceof MigrationError) throw new SetupError(cause.message, { cause })
    throw new SetupError(`${what} failed: ${explain(cause, setting)}.`, { cause })
  }
}

/** Names the setting that corrects a failure, if one does. */
function explain(cause: unknown, setting?: string): string {
  if (cause instanceof ReplyError) return describeRefusal(cause)
  if (cause instanceof ClickHouseError) return explainFailure(cause)
  const why = String(cause instanceof Error ? cause.message : cause).replace(/\.$/, '')
  return setting === undefined ? why : `${why}: check ${setting}`
}
