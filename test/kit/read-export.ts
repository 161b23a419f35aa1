import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClickHouse } from '@intake/clickhouse'

interface Files {
  files: { path: string }[]
}

/** The part of the manifests of `intake export` that a reader follows. */
interface Manifest extends Files {
  deletions: Files
  corrections: Files
}

/** Reads the ids in Parquet files of a folder back, through a table of its own; in order. */
export async function readIds(
  { clickhouse, url }: { clickhouse: Pick<ClickHouse, 'command' | 'query'>; url: string },
  folder: string,
  files: readonly { path: string }[],
): Promise<string[]> {
  await clickhouse.command(
    'CREATE OR REPLACE TABLE intake.read_back (id String) ENGINE = MergeTree ORDER BY ()',
  )
  const { origin, username, password } = new URL(url)
  const query = encodeURIComponent('INSERT INTO intake.read_back FORMAT Parquet')
  for (const { path } of files) {
    const response = await fetch(`${origin}/?query=${query}`, {
      method: 'POST',
      body: readFileSync(join(folder, path)),
      headers: { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
      signal: AbortSignal.timeout(60_000),
    })
    if (!response.ok) throw new Error(await response.text())
  }
  const rows = await clickhouse.query<{ id: string }>('SELECT id FROM intake.read_back ORDER BY id')
  await clickhouse.command('DROP TABLE intake.read_back')
  return rows.map(({ id }) => id)
}

/** What a reader has who follows docs/export.md: ids, each as often as it is there. */
export async function readExport(
  server: Parameters<typeof readIds>[0],
  folder: string,
): Promise<string[]> {
  const manifests = readdirSync(join(folder, 'manifests')).map(
    (name) => JSON.parse(readFileSync(join(folder, 'manifests', name), 'utf8')) as Manifest,
  )
  const read = (pick: (one: Manifest) => Files) =>
    readIds(
      server,
      folder,
      manifests.flatMap((one) => pick(one).files),
    )
  const deleted = new Set(await read(({ deletions }) => deletions))
  const corrected = new Set(await read(({ corrections }) => corrections))
  const data = await read((manifest) => manifest)
  const left = data.filter((id) => !corrected.has(id))
  return [...left, ...corrected].filter((id) => !deleted.has(id)).toSorted()
}
