import { randomUUID, type KeyObject } from 'node:crypto'
import { countMasked, countPayloads, startDeletion, untilDeleted } from './delete-payloads.ts'
import { countOutdated, replaceCounts } from '../counts/replace-counts.ts'
import { noteErasure, readErasedUntil } from './erasure-list.ts'
import { mayHaveObjects, spreadTombstones, writeTombstones } from './tombstones.ts'
import { subjectHash, type Subject } from './subject.ts'
import type { QueuedFrames } from '@intake/queue'
import { pause, quantity } from '@intake/runtime'
import type { Services } from '../services.ts'
import { removeObjectsOf } from './remove-objects.ts'
import { stillWaiting, waitingFrames } from './waiting-rows.ts'

/** The result of an erasure, as proof. Its counts are those of one call of `erase`. */
export interface ErasureReport {
  id: string
  kind: string
  /** Only of an API key: its records accepted at or after `from` and before `to` (UTC). */
  from?: string
  to?: string
  /** When it is complete, everything that was acknowledged before this time is erased (UTC). */
  startedAt: string
  /** Frames with rows of the subject, or unreadable ones, which workers had to store first. */
  framesAwaited: number
  /** Records and dead letters that got a tombstone. */
  tombstones: { logs: number; feedback: number; deadLetters: number }
  /** Rows deleted from disk, counting every version, but not rows that a merge removed earlier. */
  rowsDeleted: number
  objectsDeleted: number
  /** Numbers of items that are not erased yet; all are zero when the erasure is complete. */
  remaining: Remaining
  complete: boolean
}

interface Remaining {
  frames: number
  /** How many of the counted `frames` cannot be read by this version. */
  unreadableFrames: number
  rows: number
  /** Parts on disk that may contain deleted rows. */
  parts: number
  /** Counts from before the erasure. They may have names from its events, and the id of one. */
  counts: number
}

export interface EraseOptions {
  services: Services
  /** If undefined, erases again what has arrived of subjects since they were erased. */
  subject: Subject | undefined
  /** The key of the hash that stands for the subject in the journal (`PolicyStore.subjectKey`). */
  subjectKey: KeyObject
  /** It ends then even if it is incomplete, in milliseconds of `performance.now()`. */
  deadline: number
  /**
   * True to end without waiting until ClickHouse has removed replaced parts, which takes it up to
   * ten minutes. The report is then incomplete, and counts them. For data that is no secret.
   */
  leavesReplacedParts?: boolean
  progress: (sentence: string) => void
}

const pollMs = 500
/** The pause before hours or days that could not be counted are counted again. */
const recountPauseMs = 5_000

/** Every step finds its work in the stored data, so a new call completes an interrupted one. */
export async function erase(options: EraseOptions): Promise<ErasureReport> {
  const { services, subject, subjectKey, deadline, leavesReplacedParts = false, progress } = options
  const { clickhouse } = services
  const startedAt = new Date()
  const entry = {
    id: randomUUID(),
    kind: subject?.kind ?? 'repeats',
    subjectHash: subject === undefined ? '' : subjectHash(subject, subjectKey),
    startedAt,
  }
  const since = await readErasedUntil(clickhouse)
  const scope = { subject, since: subject && since }
  await noteErasure(clickhouse, { ...entry, finishedAt: undefined, report: '{}' })

  const report: ErasureReport = {
    id: entry.id,
    kind: entry.kind,
    ...(subject?.kind === 'api-key' && {
      from: subject.from.toISOString(),
      to: subject.to.toISOString(),
    }),
    startedAt: startedAt.toISOString(),
    framesAwaited: 0,
    tombstones: { logs: 0, feedback: 0, deadLetters: 0 },
    rowsDeleted: 0,
    objectsDeleted: 0,
    remaining: { frames: 0, unreadableFrames: 0, rows: 0, parts: 0, counts: 0 },
    complete: false,
  }
  const { remaining, tombstones } = report
  const removeObjects = async () => {
    const selected = mayHaveObjects(scope.since)
    report.objectsDeleted += await removeObjectsOf(services, selected)
  }
  if (subject !== undefined) await untilStored(options, subject, report)

  for (;;) {
    progress('writing tombstones')
    if (subject === undefined) tombstones.deadLetters += await spreadTombstones(clickhouse)
    else {
      const written = await writeTombstones(clickhouse, subject, since)
      tombstones.logs += written.logs
      tombstones.feedback += written.feedback
      tombstones.deadLetters += written.deadLetters
      progress('counting hours and days again')
      await replaceCounts(clickhouse, (reason) => progress(`they cannot be counted: ${reason}`))
    }
    progress('deleting objects')
    await removeObjects()
    report.rowsDeleted += await startDeletion(clickhouse, { deadline, progress }, scope)
    remaining.parts = await untilDeleted(clickhouse, { deadline, leavesReplacedParts, progress })
    // Removes objects again, because a console may have stored a thumbnail that it began to make
    // before the tombstones were written.
    await removeObjects()
    remaining.rows = await countPayloads(clickhouse, scope, startedAt)
    // A console may have stored a count that it began before the tombstones were written.
    if (subject !== undefined) remaining.counts = await countOutdated(clickhouse)
    const masked = await countMasked(clickhouse)
    remaining.parts = Math.max(remaining.parts, masked)
    if (remaining.rows + remaining.counts + masked === 0 || performance.now() >= deadline) break
    if (remaining.counts > 0) await pause(recountPauseMs)
  }

  const { frames, rows, parts, counts } = remaining
  report.complete = frames + rows + parts + counts === 0
  const finishedAt = report.complete ? new Date() : undefined
  await noteErasure(clickhouse, { ...entry, finishedAt, report: JSON.stringify(report) })
  return report
}

/** Ends when all rows that are in Redis now are stored or dead letters, or at the deadline. */
async function untilStored(
  { services: { redis }, deadline, progress }: EraseOptions,
  subject: Subject,
  report: ErasureReport,
): Promise<void> {
  progress('reading the frames in Redis')
  // Keeps no rows, because they may be many.
  let frames: { queue: QueuedFrames; id: string; isReadable: boolean }[] = []
  for await (const { queue, id, rows } of waitingFrames(redis, subject)) {
    frames.push({ queue, id, isReadable: rows !== undefined })
  }
  report.framesAwaited = frames.length
  for (;;) {
    frames = await stillWaiting(redis, frames)
    if (frames.length === 0 || performance.now() >= deadline) break
    progress(`waiting for a worker to store ${quantity(frames.length, 'frame')}`)
    await pause(pollMs)
  }
  report.remaining.frames = frames.length
  report.remaining.unreadableFrames = frames.filter(({ isReadable }) => !isReadable).length
}
