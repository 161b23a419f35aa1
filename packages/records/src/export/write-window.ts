import { hash } from 'node:crypto'
import { ClickHouseError, type RecordTable } from '@intake/clickhouse'
import {
  manifestPath,
  planPath,
  sumRows,
  type ChangeFiles,
  type ChangePart,
  type ExportFile,
  type Manifest,
  type Part,
  type Plan,
  type StoredManifest,
  type Times,
} from './manifest.ts'
import type { ExportOptions } from './plan.ts'
import { allTimes, changedRows } from './read-changes.ts'
import { readDropped } from './read-dropped.ts'
import { arrivedRows, divideLarge, readRows, type Rows } from './read-records.ts'
import { encode } from './target.ts'

/** Writes the files of a window, then its manifest. */
export async function writeWindow(
  options: ExportOptions,
  plan: Plan,
  last: StoredManifest | undefined,
): Promise<StoredManifest> {
  const { target, scope, installation } = options
  const { number, window, changes } = plan
  const times = { from: plan.changesFrom, until: changes.until }
  let divided = plan
  const keep = (smaller: Partial<Plan>) => {
    divided = { ...divided, ...smaller }
    return target.write(planPath, encode(divided))
  }
  const files = await writeParts<Part>(options, {
    parts: divided.parts,
    pathOf: (part) => `${part.kind}/${dayOf(part)}/${millis(part)}.parquet`,
    rowsOf: (part) => arrivedRows(options, part),
    keep: (parts) => keep({ parts }),
  })
  const changed = await writeParts<ChangePart>(options, {
    parts: divided.changeParts,
    pathOf: (part) => changePath(number, part),
    rowsOf: (part) => changedRows(options, { times, part, arrivedBefore: window.from }),
    keep: (changeParts) => keep({ changeParts }),
  })
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
    deletions: changeFiles(changed, 'deletions'),
    corrections: changeFiles(changed, 'corrections'),
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

/** Writes parts of a window. A part that needs too much memory becomes several files. */
async function writeParts<P extends Times>(
  options: ExportOptions,
  how: {
    parts: readonly P[]
    pathOf: (part: P) => string
    rowsOf: (part: P) => Rows
    /** Keeps the smaller parts, so that a run that repeats this one writes the same files. */
    keep: (parts: P[]) => Promise<void>
  },
): Promise<ExportFile[]> {
  const { target, progress } = options
  const files: ExportFile[] = []
  const parts = [...how.parts]
  for (let at = 0; at < parts.length;) {
    const part = parts[at]!
    const path = how.pathOf(part)
    const rowsOfPart = how.rowsOf(part)
    const content = await readRows(options, rowsOfPart).catch((error: unknown) => {
      if (error instanceof ClickHouseError && error.isTooLarge) return error
      throw error
    })
    if (content instanceof ClickHouseError) {
      const smaller = await divideLarge(options, part, rowsOfPart)
      if (smaller.length < 2) throw content
      parts.splice(at, 1, ...smaller)
      progress(`${path}: too large for ClickHouse's memory, divided into ${smaller.length} files`)
      // An earlier run may have written it whole, when ClickHouse had more memory.
      await target.remove(path)
      await how.keep(parts)
      continue
    }
    const { bytes, rows, sha256 } = content
    if (rows > 0) {
      await target.write(path, bytes)
      files.push({ path, rows, sha256 })
      progress(`${path}: ${rows} records`)
    } else await target.remove(path)
    at++
  }
  return files
}

const millis = ({ from, until }: Times) => `${Date.parse(from)}-${Date.parse(until)}`

/** Changes that are in one file have the number alone. */
function changePath(number: number, part: ChangePart): string {
  const isWhole = part.from === allTimes.from && part.until === allTimes.until
  const name = isWhole ? `${number}` : `${number}-${millis(part)}`
  return part.corrects === undefined
    ? `deletions/${name}.parquet`
    : `corrections/${name}-${part.corrects}.parquet`
}

/** The day of arrival, which a window does not exceed. */
const dayOf = ({ until }: Times) => new Date(Date.parse(until) - 1).toISOString().slice(0, 10)

function changeFiles(changed: ExportFile[], folder: string): ChangeFiles {
  const files = changed.filter(({ path }) => path.startsWith(`${folder}/`))
  return { rows: sumRows(files), files }
}
