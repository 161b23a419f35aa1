import { randomUUID } from 'node:crypto'
import {
  readInstallation as readFromClickHouse,
  writeInstallation as writeToClickHouse,
  type ClickHouse,
} from '@intake/clickhouse'
import { claimInstallation, readInstallation as readFromRedis, type Redis } from '@intake/redis'
import { SetupError } from './setup-error.ts'

/**
 * Marks Redis and ClickHouse as belonging together. A Redis that comes back empty (a lost volume)
 * has lost accepted records; without its mark no gateway takes records, and only a person can
 * decide to go on.
 */
export async function joinInstallation(options: {
  clickhouse: ClickHouse
  redis: Redis
  acceptEmptyRedis: boolean
}): Promise<void> {
  const { clickhouse, redis, acceptEmptyRedis } = options
  const [known, marked] = await Promise.all([readFromClickHouse(clickhouse), readFromRedis(redis)])
  if (known !== null && known === marked) return
  if (known !== null && marked !== null) {
    throw new SetupError('This Redis and this ClickHouse belong to different installations.')
  }
  if (known !== null && !acceptEmptyRedis) {
    throw new SetupError(
      'Redis holds nothing of this installation: it is not the same Redis, or it has lost its data ' +
        'with all records that were waiting in it. Bring the data back, or accept the loss ' +
        '(docs/operations/redis-lost-its-data.md).',
    )
  }
  // Redis first: a ClickHouse that knows more than Redis means that Redis has lost its data.
  const installation = await claimInstallation(redis, known ?? randomUUID())
  if (known === null) await writeToClickHouse(clickhouse, installation)
}
