import { hash } from 'node:crypto'
import type { RecordTable } from '@intake/clickhouse'
import type { ExportTarget } from './target.ts'

export interface ExportFile {
  /** Relative to the target. */
  path: string
  rows: number
  sha256: string
}

export interface ChangeFiles {
  rows: number
  files: ExportFile[]
}

/** From a time on and before another one. ISO 8601, UTC. */
export interface Times {
  from: string
  until: string
}

/** What an export has. A target has the same in all its manifests. */
export interface ExportScope {
  kinds: readonly RecordTable[]
  /** Applications; empty: all. */
  bundles: readonly string[]
  /** The database with the views: that of all analysts, or of one. */
  database: string
}

/** How far changes were read, and how to see whether one of them became visible later. */
export interface ChangesRead {
  /** ISO 8601. Changes before this time are in this manifest or an earlier one. */
  until: string
  /** A number for the changes of the time before `until`. */
  overlap: string
}

/** Records that retention has dropped: those with an earlier `time`. */
export interface Dropped {
  kind: RecordTable
  /** Empty: of all applications. */
  bundle_identifier: string
  /** ISO 8601. */
  before: string
}

/** Written last, so a window with a manifest is complete. Times are ISO 8601, UTC. */
export interface Manifest {
  number: number
  installation: string
  scope: ExportScope
  /** The records that were accepted at or after `from` and before `until` (`received_at`). */
  window: Times
  files: ExportFile[]
  rows: number
  /** Records that were erased, whichever manifest has them. */
  deletions: ChangeFiles
  /** Records that became visible, or another version of them, after their window was exported. */
  corrections: ChangeFiles
  changes: ChangesRead
  /** The manifest before this one; null for the first. */
  previous: { path: string; sha256: string } | null
  /** For each kind, `before` of all applications; null: nothing was dropped. */
  dropped_before: Partial<Record<RecordTable, string | null>>
  dropped: Dropped[]
}

/** What a run has begun, so that the next one repeats it under the same names. */
export interface Plan extends Pick<Manifest, 'number' | 'scope' | 'window' | 'changes'> {
  /** From when on changes are read. */
  changesFrom: string
  /** Of a version that wrote several files of a window. */
  parts?: unknown
}

export const sumRows = (files: readonly { rows: number }[]): number =>
  files.reduce((sum, { rows }) => sum + rows, 0)

export const manifestPath = (number: number): string => `manifests/${number}.json`
export const planPath = 'pending.json'

export interface StoredManifest {
  manifest: Manifest
  sha256: string
}

export async function readManifest(
  target: ExportTarget,
  number: number,
): Promise<StoredManifest | undefined> {
  const bytes = await target.read(manifestPath(number))
  if (bytes === undefined) return undefined
  const sha256 = hash('sha256', bytes)
  return { manifest: JSON.parse(bytes.toString()) as Manifest, sha256 }
}

/** Finds the number of the last manifest; 0 if there is none. */
export async function findNewest(target: ExportTarget): Promise<number> {
  const names = await target.list('manifests')
  const numbers = names.map((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? 0))
  return numbers.reduce((one, other) => Math.max(one, other), 0)
}
