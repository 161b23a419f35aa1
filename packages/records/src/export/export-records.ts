import { hostname } from 'node:os'
import { hash } from 'node:crypto'
import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import { syncReplicas } from '@intake/schema'
import { readPeriods } from '../retention/periods.ts'
import {
  lockPath,
  manifestPath,
  planPath,
  type ChangeFiles,
  type ChangesRead,
  type ExportFile,
  type ExportScope,
  type Manifest,
  type Plan,
} from './manifest.ts'
import {
  dividePart,
  divideWindow,
  fingerprintChanges,
  readCorrections,
  readDeletions,
  readFirstArrival,
  readFirstMonth,
  readNow,
  readPart,
  readVisibleUntil,
  type Content,
} from './read-records.ts'
import type { ExportTarget } from './target.ts'

export interface ExportOptions {
  clickhouse: ClickHouse
  installation: string
  target: ExportTarget
  scope: ExportScope
  /** About how many records a file has; default 250,000, which fit into memory. */
  rowsMax?: number
  /** Ends the export before the next window. */
  signal?: AbortSignal
  progress: (sentence: string) => void
}

/** The export cannot go to this target. The message is for an operator. */
export class ExportError extends Error {
  override name = 'ExportError'
}

/** The time within which a change can become visible after the moment that it is dated with. */
const overlapMs = 3_600_000
const epoch = new Date(0).toISOString()

/**
 * Exports what has become visible since the last export into this target, in windows of at most a
 * day. A window is complete when its manifest exists. Interrupted at any moment and repeated, it
 * writes the same files. Resolves to the new manifests.
 */
export async function exportRecords(options: ExportOptions): Promise<Manifest[]> {
  const { target, signal } = options
  await lock(target)
  try {
    const manifests: Manifest[] = []
    let last = await readLast(options)
    // Read once: it advances while windows are written, and the last one would never come.
    const visibleUntil = await readVisibleUntil(options.clickhouse, options.scope)
    for (;;) {
      const pending = await readJson<Plan>(target, planPath)
      if (pending !== undefined) requireSameScope(pending.scope, options.scope)
      const plan = pending ?? (await makePlan(options, last, visibleUntil))
      if (plan === undefined || signal?.aborted) return manifests
      const isDone = plan.number === last?.manifest.number
      if (!isDone) {
        await target.write(planPath, encode(plan))
        last = await writeWindow(options, plan, last)
        manifests.push(last.manifest)
      }
      await target.remove(planPath)
    }
  } finally {
    await target.remove(lockPath)
  }
}

export interface StoredManifest {
  manifest: Manifest
  sha256: string
}

/** Reads a manifest; undefined if there is none with this number. */
export async function readManifest(
  target: ExportTarget,
  number: number,
): Promise<StoredManifest | undefined> {
  const bytes = await target.read(manifestPath(number))
  if (bytes === undefined) return undefined
  const sha256 = hash('sha256', bytes)
  return { manifest: JSON.parse(bytes.toString()) as Manifest, sha256 }
}

/** @throws {ExportError} if the target has something else than this export */
async function readLast(options: ExportOptions): Promise<StoredManifest | undefined> {
  const { target, installation, scope } = options
  const numbers = (await target.list('manifests')).flatMap((name) =>
    /^\d+\.json$/.test(name) ? [Number.parseInt(name, 10)] : [],
  )
  const last = numbers.length === 0 ? undefined : await readManifest(target, Math.max(...numbers))
  if (last === undefined) {
    const known = new Set([
      lockPath,
      planPath,
      'manifests',
      'deletions',
      'corrections',
      'logs',
      'feedback',
    ])
    const foreign = (await target.list('')).find((name) => !known.has(name))
    if (foreign === undefined) return undefined
    throw new ExportError(`The target has no export, but ${foreign}: choose an empty folder.`)
  }
  if (last.manifest.installation !== installation) {
    throw new ExportError(
      'The target has an export of another installation: choose an empty folder.',
    )
  }
  requireSameScope(last.manifest.scope, scope)
  return last
}

function requireSameScope(stored: ExportScope, scope: ExportScope): void {
  if (JSON.stringify(stored) === JSON.stringify(scope)) return
  throw new ExportError(
    `The target has an export of other records (${JSON.stringify(stored)}): choose an empty folder.`,
  )
}

/** Decides the next window; undefined if there is nothing to export. */
async function makePlan(
  { clickhouse, scope, rowsMax = 250_000 }: ExportOptions,
  last: StoredManifest | undefined,
  visible: string | undefined,
): Promise<Plan | undefined> {
  const before = last?.manifest
  await syncReplicas(clickhouse, ['logs_raw', 'feedback_raw', 'dead_letters_raw'])
  const now = await readNow(clickhouse)
  const from = before?.window.until ?? epoch
  const visibleUntil = visible ?? from
  const first = await readFirstArrival(clickhouse, scope, from)
  const dayEnd =
    first === undefined
      ? visibleUntil
      : new Date((Math.floor(Date.parse(first) / dayMs) + 1) * dayMs).toISOString()
  const until = [visibleUntil, dayEnd].toSorted()[0] ?? from
  const window = { from, until: until > from ? until : from }
  const { changesFrom, isChanged } = await readChanges(clickhouse, scope, {
    before: before?.changes,
    now,
  })
  if (window.until === from && !isChanged) return undefined
  const parts = await Promise.all(
    scope.kinds.map(async (kind) => {
      const divided = await divideWindow(clickhouse, kind, scope, { window, rowsMax })
      return divided.map((part) => ({ kind, ...part }))
    }),
  )
  const overlap = await fingerprintChanges(clickhouse, scope, { from: hourBefore(now), until: now })
  return {
    number: (before?.number ?? 0) + 1,
    scope,
    window,
    parts: parts.flat(),
    changes: { until: now, overlap },
    changesFrom,
  }
}

/**
 * Decides from when on changes are read. Usually it is the end of the last reading. If a change
 * from before that became visible since, it is the beginning of the overlap, so some changes are
 * exported again.
 */
async function readChanges(
  clickhouse: ClickHouse,
  scope: ExportScope,
  { before, now }: { before: ChangesRead | undefined; now: string },
): Promise<{ changesFrom: string; isChanged: boolean }> {
  if (before === undefined) return { changesFrom: epoch, isChanged: false }
  const overlap = { from: hourBefore(before.until), until: before.until }
  const [again, added] = await Promise.all([
    fingerprintChanges(clickhouse, scope, overlap),
    fingerprintChanges(clickhouse, scope, { from: before.until, until: now }),
  ])
  const isLate =
    again.deletions !== before.overlap.deletions || again.corrections !== before.overlap.corrections
  const isNew = !added.deletions.startsWith('0-') || !added.corrections.startsWith('0-')
  return { changesFrom: isLate ? overlap.from : before.until, isChanged: isLate || isNew }
}

const hourBefore = (time: string) => new Date(Date.parse(time) - overlapMs).toISOString()

/** Writes the files of a window, then its manifest. */
async function writeWindow(
  options: ExportOptions,
  plan: Plan,
  last: StoredManifest | undefined,
): Promise<StoredManifest> {
  const { clickhouse, target, scope, installation, progress } = options
  const { number, window, changes, changesFrom } = plan
  const put = async (path: string, { bytes, rows, sha256 }: Content): Promise<ExportFile> => {
    await target.write(path, bytes)
    await writeLock(target)
    return { path, rows, sha256 }
  }
  const files: ExportFile[] = []
  let { parts } = plan
  for (let at = 0; at < parts.length;) {
    const part = parts[at]!
    const path = `${part.kind}/${dayOf(part)}/${Date.parse(part.from)}-${Date.parse(part.until)}.parquet`
    const content = await unlessTooLarge(() => readPart(clickhouse, scope, part))
    if (content instanceof ClickHouseError) {
      const smaller = await dividePart(clickhouse, scope, part)
      if (smaller.length < 2) throw content
      parts = parts.toSpliced(at, 1, ...smaller)
      progress(`${path}: too large for ClickHouse's memory, divided into ${smaller.length} files`)
      // An earlier run may have written it whole, when ClickHouse had more memory.
      await target.remove(path)
      // A run that repeats this one writes the same files.
      await target.write(planPath, encode({ ...plan, parts }))
      await writeLock(target)
      continue
    }
    files.push(await put(path, content))
    progress(`${path}: ${content.rows} records`)
    at++
  }
  const times = { from: changesFrom, until: changes.until }
  const deletions = await readDeletions(clickhouse, scope, times)
  const deletionFiles =
    deletions.rows === 0 ? [] : [await put(`deletions/${number}.parquet`, deletions)]
  const correctionFiles: ExportFile[] = []
  for (const kind of last === undefined ? [] : scope.kinds) {
    const arrivedBefore = window.from
    const content = await readCorrections(clickhouse, scope, { kind, ...times, arrivedBefore })
    if (content.rows > 0) {
      correctionFiles.push(await put(`corrections/${number}-${kind}.parquet`, content))
    }
  }
  const manifest: Manifest = {
    number,
    installation,
    scope,
    window,
    files,
    rows: sum(files),
    deletions: changeFiles(deletionFiles),
    corrections: changeFiles(correctionFiles),
    changes,
    previous:
      last === undefined ? null : { path: manifestPath(last.manifest.number), sha256: last.sha256 },
    dropped_before: await readDropped(clickhouse, scope),
  }
  const bytes = encode(manifest)
  await target.write(manifestPath(number), bytes)
  return { manifest, sha256: hash('sha256', bytes) }
}

/**
 * Resolves to the error if ClickHouse has too little memory for the whole content, twice: other
 * queries may have used it the first time.
 */
async function unlessTooLarge(read: () => Promise<Content>): Promise<Content | ClickHouseError> {
  const isTooLarge = (error: unknown) => error instanceof ClickHouseError && error.isTooLarge
  try {
    return await read().catch((error: unknown) => {
      if (isTooLarge(error)) return read()
      throw error
    })
  } catch (error) {
    if (isTooLarge(error)) return error as ClickHouseError
    throw error
  }
}

/** The day of arrival, which a window does not exceed. */
const dayOf = ({ until }: { until: string }) =>
  new Date(Date.parse(until) - 1).toISOString().slice(0, 10)

const sum = (files: readonly ExportFile[]) => files.reduce((all, { rows }) => all + rows, 0)
const changeFiles = (files: ExportFile[]): ChangeFiles => ({ rows: sum(files), files })

async function readDropped(
  clickhouse: ClickHouse,
  { kinds }: ExportScope,
): Promise<Manifest['dropped_before']> {
  const { general: days } = await readPeriods(clickhouse)
  const entries = kinds.map(async (kind) => {
    const first = days[kind] === undefined ? null : await readFirstMonth(clickhouse, kind)
    return [kind, first] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** A killed exporter leaves its lock; on another machine it counts for this long. */
const leaseMs = 15 * 60_000

interface Lock {
  host: string
  pid: number
  until: string
}

const writeLock = (target: ExportTarget) =>
  target.write(
    lockPath,
    encode({
      host: hostname(),
      pid: process.pid,
      until: new Date(Date.now() + leaseMs).toISOString(),
    } satisfies Lock),
  )

/** @throws {ExportError} if another exporter writes into the target */
async function lock(target: ExportTarget): Promise<void> {
  const held = await readJson<Lock>(target, lockPath)
  const isHeld =
    held !== undefined &&
    (held.host === hostname()
      ? held.pid !== process.pid && isRunning(held.pid)
      : Date.parse(held.until) > Date.now())
  if (isHeld) {
    throw new ExportError(
      `Another export writes into this target (process ${held.pid} on ${held.host}). If it was killed, wait until ${held.until}.`,
    )
  }
  await writeLock(target)
  const written = await readJson<Lock>(target, lockPath)
  if (written?.pid !== process.pid) throw new ExportError('Another export has just begun here.')
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const encode = (value: unknown) => Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`)

async function readJson<T>(target: ExportTarget, path: string): Promise<T | undefined> {
  const bytes = await target.read(path)
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as T)
}
