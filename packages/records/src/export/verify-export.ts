import { hash } from 'node:crypto'
import type { ClickHouse } from '@intake/clickhouse'
import { countRows } from '../count-rows.ts'
import {
  findNewest,
  readManifest,
  sumRows,
  type ExportFile,
  type StoredManifest,
} from './manifest.ts'
import { readDropped } from './read-dropped.ts'
import { arrivedRows } from './read-records.ts'
import type { ExportTarget } from './target.ts'

/**
 * Compares the files of a target with its manifests, and the number of records in each window with
 * ClickHouse. The numbers may differ by what was erased, dropped or replayed since.
 */
export async function verifyExport(clickhouse: ClickHouse, target: ExportTarget) {
  const problems: string[] = []
  const result = { files: 0, rows: 0, problems }
  let before: StoredManifest | undefined
  let [missing, surplus, replayed, deleted] = [0, 0, 0, 0]
  const newest = await findNewest(target)
  for (let number = 1; number <= newest; number++) {
    const stored = await readManifest(target, number)
    if (stored === undefined) {
      problems.push(`manifest ${number} is missing`)
      continue
    }
    const { scope, window, rows, files, deletions, corrections, previous } = stored.manifest
    if (previous?.sha256 !== before?.sha256) {
      problems.push(`manifest ${number} does not follow the one before it, which was changed`)
    }
    for (const file of [...files, ...deletions.files, ...corrections.files]) {
      problems.push(...(await findFileProblems(target, file)))
      result.files++
    }
    for (const kind of scope.kinds) {
      const exported = sumRows(files.filter(({ path }) => path.startsWith(`${kind}/`)))
      const { from, params } = arrivedRows({ clickhouse, scope }, kind, window)
      const difference = (await countRows(clickhouse, from, params)) - exported
      missing += Math.max(0, difference)
      surplus += Math.max(0, -difference)
    }
    replayed += corrections.rows
    deleted += deletions.rows
    result.rows += rows
    before = stored
  }
  if (before === undefined) return { ...result, problems: [...problems, 'there is no manifest'] }
  const again = 'run the export again, then compare again'
  if (missing > replayed) {
    problems.push(
      `ClickHouse has ${missing} records of the windows that are in no file, and the corrections have ${replayed}: ${again}`,
    )
  }
  const { scope } = before.manifest
  if (surplus > deleted && (await readDropped({ clickhouse, scope })).length === 0) {
    problems.push(
      `the files have ${surplus} records that ClickHouse no longer has, and the deletions have ${deleted}: ${again}`,
    )
  }
  return result
}

async function findFileProblems(target: ExportTarget, file: ExportFile): Promise<string[]> {
  const bytes = await target.read(file.path)
  if (bytes === undefined) return [`${file.path} is missing`]
  const sha256 = hash('sha256', bytes)
  return sha256 === file.sha256 ? [] : [`${file.path} was changed`]
}
