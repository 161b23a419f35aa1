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
