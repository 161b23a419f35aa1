import { hash } from 'node:crypto'
import type { ClickHouse } from '@intake/clickhouse'
import {
  findNewest,
  readManifest,
  sumRows,
  type ExportFile,
  type Manifest,
  type StoredManifest,
} from './manifest.ts'
import { readDropped } from './read-dropped.ts'
import { arrivedRows, countOf } from './read-records.ts'
import type { ExportTarget } from './target.ts'

/**
 * Compares the files of a target with its manifests, and the number of records in each window with
 * ClickHouse. The numbers may differ by what was erased, dropped or replayed since.
 */
export async function verifyExport(options: {
  clickhouse: ClickHouse
  target: ExportTarget
  progress: (sentence: string) => void
}) {
  const { clickhouse, target, progress } = options
  const problems: string[] = []
  const result = { manifests: 0, files: 0, rows: 0, problems }
  let before: StoredManifest | undefined
  let [missing, surplus, replayed, deleted] = [0, 0, 0, 0]
  const newest = await findNewest(target)
  for (let number = 1; number <= newest; number++) {
    const stored = await readManifest(target, number)
    if (stored === undefined) {
      problems.push(`manifest ${number} is missing`)
      continue
    }
    const { manifest } = stored
    progress(`manifest ${number}`)
    problems.push(...findChainProblems(manifest, before))
    const { deletions, corrections } = manifest
    for (const file of [...manifest.files, ...deletions.files, ...corrections.files]) {
      problems.push(...(await findFileProblems(target, file)))
      result.files++
    }
    for (const kind of manifest.scope.kinds) {
      const exported = sumRows(manifest.files.filter(({ path }) => path.startsWith(`${kind}/`)))
      const source = { clickhouse, scope: manifest.scope }
      const rows = arrivedRows(source, { kind, ...manifest.window })
      const difference = (await countOf(source, rows)) - exported
      missing += Math.max(0, difference)
      surplus += Math.max(0, -difference)
    }
    replayed += corrections.rows
    deleted += deletions.rows
    result.manifests++
    result.rows += manifest.rows
    before = stored
  }
  if (newest === 0) problems.push('there is no manifest')
  if (missing > replayed) {
    problems.push(
      `ClickHouse has ${missing} records of the windows that are in no file, and the corrections have ${replayed}: run the export again, then compare again`,
    )
  }
  const scope = before?.manifest.scope
  const isDropped = scope !== undefined && (await readDropped({ clickhouse, scope })).length > 0
  if (surplus > deleted && !isDropped) {
    problems.push(
      `the files have ${surplus} records that ClickHouse no longer has, and the deletions have ${deleted}: run the export again, then compare again`,
    )
  }
  return result
}

function findChainProblems(manifest: Manifest, before: StoredManifest | undefined): string[] {
  const { number, previous, window } = manifest
  const isNext = previous?.sha256 === before?.sha256
  const begins = before?.manifest.window.until
  return [
    ...(isNext ? [] : [`manifest ${number} does not follow the one before it, which was changed`]),
    ...(begins === undefined || begins === window.from
      ? []
      : [`manifest ${number} begins at ${window.from}, and the one before it ends at ${begins}`]),
  ]
}

async function findFileProblems(target: ExportTarget, file: ExportFile): Promise<string[]> {
  const bytes = await target.read(file.path)
  if (bytes === undefined) return [`${file.path} is missing`]
  const sha256 = hash('sha256', bytes)
  return sha256 === file.sha256 ? [] : [`${file.path} was changed`]
}
