import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isoTime, type ClickHouse } from '@intake/clickhouse'

interface Files {
  files: readonly { path: string }[]
}

/** The part of the manifests of `intake export` that a reader follows. */
interface Manifest extends Files {
  number: number
  deletions: Files
  corrections: Files
  dropped: { kind: string; bundle_identifier: string; before: string }[]
}

interface Server {
  clickhouse: Pick<ClickHouse, 'command' | 'query'>
  url: string
}

/** Reads records in Parquet files of a folder back, through a table of its own; in order. */
async function readRows(
  { clickhouse, url }: Server,
  folder: string,
  files: readonly { path: string }[],
) {
  await clickhouse.command(
    `CREATE OR REPLACE TABLE intake.read_back (id String, bundle_identifier String, time DateTime64(3, 'UTC'))
     ENGINE = MergeTree ORDER BY ()`,
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
  const rows = await clickhouse.query<{ id: string; bundle_identifier: string; time: string }>(
    'SELECT * FROM intake.read_back ORDER BY id',
  )
  await clickhouse.command('DROP TABLE intake.read_back')
  return rows
}

export const readIds = async (...from: Parameters<typeof readRows>): Promise<string[]> =>
  (await readRows(...from)).map(({ id }) => id)

/** What a reader has who follows docs/export.md: ids, each as often as it is there. */
export async function readExport(server: Server, folder: string): Promise<string[]> {
  const manifests = readdirSync(join(folder, 'manifests')).map(
    (name) => JSON.parse(readFileSync(join(folder, 'manifests', name), 'utf8')) as Manifest,
  )
  const filesOf = (kind: string, pick: (one: Manifest) => Files) =>
    manifests.flatMap((one) => pick(one).files).filter(({ path }) => path.includes(kind))
  const deleted = new Set(
    await readIds(
      server,
      folder,
      filesOf('', ({ deletions }) => deletions),
    ),
  )
  const { dropped = [] } = manifests.toSorted((a, b) => a.number - b.number).at(-1) ?? {}
  const ids: string[] = []
  for (const kind of ['logs', 'feedback']) {
    const before = new Map(
      dropped
        .filter((one) => one.kind === kind)
        .map((one) => [one.bundle_identifier, Date.parse(one.before)]),
    )
    const corrected = await readRows(
      server,
      folder,
      filesOf(kind, (one) => one.corrections),
    )
    const correctedIds = new Set(corrected.map(({ id }) => id))
    const data = await readRows(
      server,
      folder,
      filesOf(kind, (one) => one),
    )
    const kept = [...data.filter(({ id }) => !correctedIds.has(id)), ...corrected].filter(
      ({ id, bundle_identifier, time }) =>
        !deleted.has(id) &&
        ['', bundle_identifier].every(
          (bundle) => Date.parse(isoTime(time)) >= (before.get(bundle) ?? 0),
        ),
    )
    ids.push(...kept.map(({ id }) => id))
  }
  return ids.toSorted()
}
