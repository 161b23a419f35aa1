import { hostname } from 'node:os'
import { hash, randomUUID } from 'node:crypto'
import { ClickHouseError, type ClickHouse, type RecordTable } from '@intake/clickhouse'
import { syncReplicas } from '@intake/schema'
import {
  lockPath,
  manifestPath,
  planPath,
  sumRows,
  type ChangeFiles,
  type ChangePart,
  type ChangesRead,
  type ExportFile,
  type ExportScope,
  type Manifest,
  type Plan,
  type Times,
} from './manifest.ts'
import {
  allTimes,
  divide,
  divideChanges,
  divideLarge,
  divideLargeChanges,
  fingerprintChanges,
  readChangePart,
  readDropped,
  readPart,
  readVisibleUntil,
  readWindowEnd,
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
  /** Called before each window is written, and if there is none, never. */
  onWindow?: () => Promise<void>
  progress: (sentence: string) => void
}

/** The time within which a change can become visible after the moment that it is dated with. */
const overlapMs = 3_600_000
/** The clocks of servers differ by less. */
const clockErrorMs = 60_000
const epoch = new Date(0).toISOString()
/** Changes are counted by the hour of their records, because these may be of many years. */
const changeUnitMs = 3_600_000
const defaultRowsMax = 250_000

/**
 * Exports what has become visible since the last export into this target, in windows of at most a
 * day. A window is complete when its manifest exists. Interrupted at any moment and repeated, it
 * writes the same files. Resolves to the new manifests.
 *
 * @param options.signal ends the export at once, even if ClickHouse does not respond; it rejects
 */
export async function exportRecords(options: ExportOptions): Promise<Manifest[]> {
  const { target, signal } = options
  const { requireLock, unlock } = await lock(target)
  const interrupted = new Promise<never>((_, reject) =>
    signal?.addEventListener('abort', () =>
      reject(new Error('The export was interrupted. The same command continues it.')),
    ),
  )
  try {
    return await Promise.race([writeWindows(options, requireLock), interrupted])
  } finally {
    // A lock that remains ends by itself; what failed before must be reported.
    await unlock().catch(() => undefined)
  }
}

async function writeWindows(
  options: ExportOptions,
  requireLock: () => Promise<void>,
): Promise<Manifest[]> {
  const { target } = options
  const manifests: Manifest[] = []
  let last = await readLast(options)
  // Read once: it advances while windows are written, and the last one would never come.
  const visibleUntil = await readVisibleUntil(options)
  for (;;) {
    const pending = await readJson<Plan>(target, planPath)
    if (pending !== undefined) requireSameScope(pending.scope, options.scope)
    const plan = pending ?? (await makePlan(options, last, visibleUntil))
    if (plan === undefined) return manifests
    const isDone = plan.number === last?.manifest.number
    if (!isDone) {
      await options.onWindow?.()
      await target.write(planPath, encode(plan))
      last = await writeWindow(options, plan, last, requireLock)
      manifests.push(last.manifest)
    }
    await target.remove(planPath)
  }
}

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
  let newest = 0
  for (const name of await target.list('manifests')) {
    if (/^\d+\.json$/.test(name)) newest = Math.max(newest, Number.parseInt(name, 10))
  }
  return newest
}

/** @throws {Error} if the target has something else than this export */
async function readLast(options: ExportOptions): Promise<StoredManifest | undefined> {
  const { target, installation, scope } = options
  const newest = await findNewest(target)
  const last = newest === 0 ? undefined : await readManifest(target, newest)
  if (last === undefined) {
    const folders = ['manifests', 'deletions', 'corrections', 'logs', 'feedback']
    const known = new Set([lockPath, planPath, ...folders])
    const foreign = (await target.list('')).find((name) => !known.has(name))
    if (foreign === undefined) return undefined
    throw new Error(`The target has no export, but ${foreign}: choose an empty folder.`)
  }
  if (last.manifest.installation !== installation) {
    throw new Error('The target has an export of another installation: choose an empty folder.')
  }
  requireSameScope(last.manifest.scope, scope)
  return last
}

function requireSameScope(stored: ExportScope, scope: ExportScope): void {
  if (JSON.stringify(stored) === JSON.stringify(scope)) return
  throw new Error(
    `The target has an export of other records (${JSON.stringify(stored)}): choose an empty folder.`,
  )
}

/** Decides the next window; undefined if there is nothing to export. */
async function makePlan(
  options: ExportOptions,
  last: StoredManifest | undefined,
  visible: string | undefined,
): Promise<Plan | undefined> {
  const { clickhouse, scope, rowsMax = defaultRowsMax } = options
  const before = last?.manifest
  await syncReplicas(clickhouse, ['logs_raw', 'feedback_raw', 'dead_letters_raw'])
  const from = before?.window.until ?? epoch
  const { now, until } = await readWindowEnd(options, { from, visible: visible ?? from })
  const window = { from, until }
  const { changesFrom, isChanged } = await readChanges(options, before?.changes, now)
  const dropped = JSON.stringify(await readDropped(options))
  const isTold = before === undefined || JSON.stringify(before.dropped) === dropped
  if (until === from && !isChanged && isTold) return undefined
  const parts = scope.kinds.map((kind) =>
    divide(options, { kind, ...window }, { rowsMax, unitMs: 1_000 }),
  )
  const overlap = await fingerprintChanges(options, hourBefore(now))
  const isFirst = before === undefined
  return {
    number: (before?.number ?? 0) + 1,
    scope,
    window,
    parts: (await Promise.all(parts)).flat(),
    changes: { until: now, overlap },
    changesFrom,
    // After the fingerprint: a change that became visible between them is exported again.
    changeParts: await planChanges(options, { from: changesFrom, until: now }, isFirst),
  }
}

/** The first window has no corrections: it has the records themselves. */
async function planChanges(
  options: ExportOptions,
  times: Times,
  isFirst: boolean,
): Promise<ChangePart[]> {
  const { scope, rowsMax = defaultRowsMax } = options
  const corrections = isFirst ? [] : scope.kinds.map((corrects) => ({ ...allTimes, corrects }))
  const parts: ChangePart[] = []
  for (const part of [allTimes, ...corrections]) {
    parts.push(
      ...(await divideChanges(options, { times, part }, { rowsMax, unitMs: changeUnitMs })),
    )
  }
  return parts
}

/**
 * Decides from when on changes are read. Usually it is the end of the last reading. If a change
 * from before that became visible since, it is the beginning of the overlap, so some changes are
 * exported again.
 */
async function readChanges(
  options: ExportOptions,
  before: ChangesRead | undefined,
  now: string,
): Promise<{ changesFrom: string; isChanged: boolean }> {
  if (before === undefined) return { changesFrom: epoch, isChanged: false }
  // The clock was wrong: changes since it was corrected may be dated before the overlap.
  const isSetBack = Date.parse(now) < Date.parse(before.until) - clockErrorMs
  if (isSetBack) return { changesFrom: epoch, isChanged: true }
  const overlap = hourBefore(before.until)
  const isLate = (await fingerprintChanges(options, overlap)) !== before.overlap
  const added = await fingerprintChanges(options, { from: before.until, until: now })
  return {
    changesFrom: isLate ? overlap.from : before.until,
    isChanged: isLate || !added.startsWith('0-'),
  }
}

const hourBefore = (until: string) => ({
  from: new Date(Date.parse(until) - overlapMs).toISOString(),
  until,
})

/** Writes the files of a window, then its manifest. */
async function writeWindow(
  options: ExportOptions,
  plan: Plan,
  last: StoredManifest | undefined,
  requireLock: () => Promise<void>,
): Promise<StoredManifest> {
  const { target, scope, installation } = options
  const { number, window, changes, changesFrom } = plan
  const times = { from: changesFrom, until: changes.until }
  const changeParts = plan.changeParts ?? (await planChanges(options, times, last === undefined))
  let divided: Plan = { ...plan, changeParts }
  const keep = (smaller: Partial<Plan>) => {
    divided = { ...divided, ...smaller }
    return target.write(planPath, encode(divided))
  }
  const files = await writeParts(options, {
    parts: plan.parts,
    pathOf: (part) =>
      `${part.kind}/${dayOf(part)}/${Date.parse(part.from)}-${Date.parse(part.until)}.parquet`,
    read: (part) => readPart(options, part),
    divide: (part) => divideLarge(options, part),
    keep: (parts) => keep({ parts }),
  })
  const changed = await writeParts(options, {
    parts: changeParts,
    pathOf: (part) => changePath(number, part),
    read: (part) => readChangePart(options, { times, part }, window.from),
    divide: (part) => divideLargeChanges(options, { times, part }),
    keep: (parts) => keep({ changeParts: parts }),
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
  await requireLock()
  await target.write(manifestPath(number), bytes)
  return { manifest, sha256: hash('sha256', bytes) }
}

/** Writes parts of a window. A part that needs too much memory becomes several files. */
async function writeParts<P>(
  { target, progress }: ExportOptions,
  how: {
    parts: readonly P[]
    pathOf: (part: P) => string
    read: (part: P) => Promise<Content>
    divide: (part: P) => Promise<P[]>
    /** Keeps the smaller parts, so that a run that repeats this one writes the same files. */
    keep: (parts: readonly P[]) => Promise<void>
  },
): Promise<ExportFile[]> {
  const files: ExportFile[] = []
  let { parts } = how
  for (let at = 0; at < parts.length;) {
    const part = parts[at]!
    const path = how.pathOf(part)
    const content = await how.read(part).catch((error: unknown) => {
      if (error instanceof ClickHouseError && error.isTooLarge) return error
      throw error
    })
    if (content instanceof ClickHouseError) {
      const smaller = await how.divide(part)
      if (smaller.length < 2) throw content
      parts = parts.toSpliced(at, 1, ...smaller)
      progress(`${path}: too large for ClickHouse's memory, divided into ${smaller.length} files`)
      // An earlier run may have written it whole, when ClickHouse had more memory.
      await target.remove(path)
      await how.keep(parts)
    } else {
      const { bytes, rows, sha256 } = content
      if (rows > 0) {
        await target.write(path, bytes)
        files.push({ path, rows, sha256 })
        progress(`${path}: ${rows} records`)
      } else await target.remove(path)
      at++
    }
  }
  return files
}

/** Changes that are in one file have the number alone. */
function changePath(number: number, { from, until, corrects }: ChangePart): string {
  const isWhole = from === allTimes.from && until === allTimes.until
  const times = isWhole ? '' : `-${Date.parse(from)}-${Date.parse(until)}`
  return corrects === undefined
    ? `deletions/${number}${times}.parquet`
    : `corrections/${number}${times}-${corrects}.parquet`
}

/** The day of arrival, which a window does not exceed. */
const dayOf = ({ until }: { until: string }) =>
  new Date(Date.parse(until) - 1).toISOString().slice(0, 10)

function changeFiles(changed: ExportFile[], folder: string): ChangeFiles {
  const files = changed.filter(({ path }) => path.startsWith(`${folder}/`))
  return { rows: sumRows(files), files }
}

/** A killed exporter leaves its lock, which counts for this long, unless its process is known. */
const leaseMs = 15 * 60_000

interface Lock {
  /** Undefined if an earlier version has written it. */
  id?: string
  host: string
  pid: number
  until: string
}

/**
 * Keeps others from writing into the target, however long a statement takes. `requireLock` rejects
 * if another exporter has begun at the same moment, or if the folder was renamed.
 * @throws {Error} if another exporter writes into the target
 */
async function lock(target: ExportTarget) {
  const own = { id: randomUUID(), host: hostname(), pid: process.pid }
  const isOwn = async () => (await readJson<Lock>(target, lockPath))?.id === own.id
  const write = () => {
    const until = new Date(Date.now() + leaseMs).toISOString()
    return target.write(lockPath, encode({ ...own, until } satisfies Lock))
  }
  const held = await readJson<Lock>(target, lockPath)
  if (held !== undefined && Date.parse(held.until) > Date.now()) {
    const isGone = held.host === own.host && (held.pid === own.pid || !isRunning(held.pid))
    if (!isGone) {
      throw new Error(
        `Another export writes into this target (process ${held.pid} on ${held.host}). If it was killed, wait until ${held.until}.`,
      )
    }
  }
  await write()
  const requireLock = async () => {
    if (await isOwn()) return
    throw new Error('Another export has just begun here, or the target was renamed.')
  }
  await requireLock()
  const renew = async () => {
    if (await isOwn()) await write()
  }
  let renewal = Promise.resolve()
  // If a renewal fails, so does what the export writes, or the next renewal succeeds.
  const renewals = setInterval(() => {
    renewal = renew().catch(() => undefined)
  }, leaseMs / 5)
  const unlock = async () => {
    clearInterval(renewals)
    await renewal
    if (await isOwn()) await target.remove(lockPath)
  }
  return { requireLock, unlock }
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
