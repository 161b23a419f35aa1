import type { ClickHouse } from '@intake/clickhouse'

export async function readInstallation(
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<string | null> {
  const rows = await clickhouse.query<{ id: string }>(
    'SELECT id FROM intake.installation ORDER BY created_at, id LIMIT 1',
  )
  return rows[0]?.id ?? null
}

export async function writeInstallation(clickhouse: ClickHouse, id: string): Promise<void> {
  await clickhouse.command('INSERT INTO intake.installation (id) SELECT {id:String}', { id })
}

/**
 * An id in one then says nothing about the other. Resolves if it is not known.
 *
 * @param mark the mark of Redis
 * @throws {Error} if Redis and ClickHouse belong to different installations
 */
export async function requireSameInstallation(
  mark: string | null,
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<void> {
  const known = await readInstallation(clickhouse).catch(() => null)
  if (mark === null || known === null || mark === known) return
  throw new DifferentInstallations(
    'this Redis and this ClickHouse belong to different installations (REDIS_URL, CLICKHOUSE_URL)',
  )
}

export class DifferentInstallations extends Error {
  override name = 'DifferentInstallations'
}
