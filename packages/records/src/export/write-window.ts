import { hash } from 'node:crypto'
import type { RecordTable } from '@intake/clickhouse'
import {
  manifestPath,
  sumRows,
  type ExportFile,
  type Manifest,
  type Plan,
  type StoredManifest,
} from './manifest.ts'
import type { ExportOptions } from './plan.ts'
import { readDropped } from './read-dropped.ts'
import { arrivedRows, correctedRows, deletedRows, readRows, type Rows } from './read-records.ts'
import { encode } from './target.ts'

/** Writes the files of a window, one for each kind, then its manifest. */
export async function writeWindow(
  options: ExportOptions,
  plan: Plan,
  last: StoredManifest | undefined,
): Promise<StoredManifest> {
  const { target, scope, installation } = options
  const { number, window, changes } = plan
  const times = { from: plan.changesFrom, until: changes.until }
  const name = `${Date.parse(window.from)}-${Date.parse(window.until)}`
  const files: ExportFile[] = []
  const corrections: ExportFile[] = []
  /** Resolves to the file, or to none if it would have no row. */
  const write = async (path: string, from: Rows): Promise<ExportFile[]> => {
    const { bytes, rows, sha256 } = await readRows(options, from)
    if (rows === 0) return []
    await target.write(path, bytes)
    options.progress(`${path}: ${rows} records`)
    return [{ path, rows, sha256 }]
  }
  for (const kind of scope.kinds) {
    const path = `${dayFolder(kind, plan)}/${name}.parquet`
    files.push(...(await write(path, arrivedRows(options, kind, window))))
    const replayed = correctedRows(options, kind, { times, arrivedBefore: window.from })
    corrections.push(...(await write(`corrections/${number}-${kind}.parquet`, replayed)))
  }
  const deletions = await write(`deletions/${number}.parquet`, deletedRows(options, times))
  // Read last: a deletion that retention has dropped since is not in the file.
  const dropped = await readDropped(options)
  const ofAll = (kind: RecordTable) =>
    dropped.find((one) => one.kind === kind && one.bundle_identifier === '')?.before ?? null
  const manifest: Manifest = {
    number,
    installation,
    scope,
    window,
    files,
    rows: sumRows(files),
    deletions: { rows: sumRows(deletions), files: deletions },
    corrections: { rows: sumRows(corrections), files: corrections },
    changes,
    previous:
      last === undefined ? null : { path: manifestPath(last.manifest.number), sha256: last.sha256 },
    dropped_before: Object.fromEntries(scope.kinds.map((kind) => [kind, ofAll(kind)])),
    dropped,
  }
  const bytes = encode(manifest)
  await target.write(manifestPath(number), bytes)
  return { manifest, sha256: hash('sha256', bytes) }
}

/** Removes what has been written of a window, also by a version that wrote several files. */
export async function removeWindow({ target, scope }: ExportOptions, plan: Plan): Promise<void> {
  const { number, window } = plan
  const folders = scope.kinds.map(
    (kind) => [dayFolder(kind, plan), Date.parse(window.from)] as const,
  )
  for (const [folder, first] of [
    ...folders,
    ['deletions', number],
    ['corrections', number],
  ] as const) {
    for (const name of await target.list(folder)) {
      if (Number.parseInt(name, 10) >= first) await target.remove(`${folder}/${name}`)
    }
  }
}

/** The day of arrival, which a window does not exceed. */
const dayFolder = (kind: RecordTable, { window }: Plan) =>
  `${kind}/${new Date(Date.parse(window.until) - 1).toISOString().slice(0, 10)}`
