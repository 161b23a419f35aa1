import { hash, randomUUID } from 'node:crypto'
import type { Policy } from '@intake/access'
import { importKeyId, IntakeError, isUuid, limits, printUuid } from '@intake/contract'
import { deriveIdentity } from '@intake/identity'
import { compress } from '@intake/queue/frame'
import type { FrameProducer } from '@intake/queue/produce'
import { pause } from '@intake/runtime'
import { printLog } from '@intake/sandbox'
import { UsageError } from '../endpoints.ts'
import type { SourceMap } from './maps.ts'
import type { SourceRow } from './read-rows.ts'
import { RejectedError, UnwantedError, type SourceEvent } from './source-event.ts'

export interface ImportResult {
  imported: number
  rejected: number
  /** Left out by a rule of the operator. */
  dropped: number
}

export interface ImportOptions {
  rows: AsyncIterable<SourceRow>
  map: SourceMap
  bundleIdentifier: string
  /** Another attempt gives events other ids, which tombstones of a purge do not hide. From 1. */
  attempt: number
  /** The number of records in a second. */
  rate: number
  policy: Pick<Policy, 'retentionMs' | 'isSuppressed' | 'rules'>
  producer: FrameProducer
  /**
   * Resolves when workers have stored enough of what waits in Redis, to the clock of Redis, which
   * says when a record arrives.
   */
  untilRoom: () => Promise<number>
  onRejected: (row: SourceRow, reason: string) => Promise<void>
  onProgress: (result: ImportResult, share: number) => void
}

/** A frame has at most so many records, as those of gateways. */
const frameRows = 500
/** A larger frame takes too long to reach Redis, and too much of its memory. */
const frameBytes = 1024 * 1024
/** If none of the first rows, of which there are so many, is an event, the map does not fit. */
const trialRows = 100
/** A frame must be in the queue this long after its records arrive, as with gateways. */
const enqueueTimeoutMs = 8_000

/**
 * Imports log events through the queue. Their identities follow from the source, so a second import
 * of the same rows changes nothing, however the first one ended.
 *
 * @throws {UsageError} before it imports anything, if the map does not fit the file
 */
export async function importRecords(options: ImportOptions): Promise<ImportResult> {
  const { rows, producer, rate, onRejected, onProgress } = options
  const result: ImportResult = { imported: 0, rejected: 0, dropped: 0 }
  const requestId = randomUUID()
  const startedAt = performance.now()
  let seen = 0
  /** The rows that were rejected for what they are. */
  let misfits = 0
  for await (const chunk of chunksOf(rows, Math.min(frameRows, rate))) {
    const receivedAtMs = await options.untilRoom()
    const deadline = performance.now() + enqueueTimeoutMs
    const context = { apiKeyId: importKeyId, requestId, receivedAtMs }
    // A frame belongs to one month, which is a partition of the table.
    const months = new Map<string, string[]>()
    for (const row of chunk) {
      try {
        const { json, month } = printRow(row, { ...options, context })
        if (json === undefined) {
          result.dropped++
          continue
        }
        const lines = months.get(month) ?? []
        months.set(month, lines)
        lines.push(json)
      } catch (error) {
        result.rejected++
        if (!(error instanceof UnwantedError)) misfits++
        await onRejected(row, reasonOf(error))
      }
    }
    seen += chunk.length
    if (seen >= trialRows && misfits === seen)
      throw new UsageError('All of the first lines are rejected: does --map fit?')
    for (const lines of months.values()) {
      const ndjson = `${lines.join('\n')}\n`
      const frame = { rows: lines.length, jsonBytes: Buffer.byteLength(ndjson), receivedAtMs }
      await producer.add({ ...frame, ...compress(ndjson) }, deadline)
      result.imported += lines.length
    }
    onProgress(result, chunk.at(-1)?.share ?? 1)
    const due = startedAt + (seen / rate) * 1_000
    await pause(Math.max(0, due - performance.now()))
  }
  return result
}

async function* chunksOf(
  rows: AsyncIterable<SourceRow>,
  rowsMax: number,
): AsyncGenerator<SourceRow[]> {
  let chunk: SourceRow[] = []
  let bytes = 0
  for await (const row of rows) {
    chunk.push(row)
    bytes += Buffer.byteLength(row.text)
    if (chunk.length < rowsMax && bytes < frameBytes) continue
    yield chunk
    chunk = []
    bytes = 0
  }
  if (chunk.length > 0) yield chunk
}

/** @throws {RejectedError | IntakeError} if the row cannot be imported */
function printRow(
  row: SourceRow,
  options: ImportOptions & {
    context: { apiKeyId: string; requestId: string; receivedAtMs: number }
  },
): { json: string | undefined; month: string } {
  const { map, policy, bundleIdentifier: bundle_identifier, attempt, context } = options
  const source = map.read(row)
  const keptMs = policy.retentionMs('logs', bundle_identifier)
  requireKept(source.timeMs, { nowMs: context.receivedAtMs, keptMs })
  const user = source.user ?? source.device
  const device = source.device ?? source.user
  if (user === undefined || device === undefined)
    throw new RejectedError('it has no user or device')
  const sender = { bundle_identifier, unique_user_id: user, device_uuid: deviceUuid(device) }
  if (policy.isSuppressed(sender)) throw new UnwantedError('its user or device is suppressed')
  const identity = identityOf(source, row, [bundle_identifier, attempt])
  const json = printLog(
    {
      ...sender,
      device: source.deviceFields,
      log: { event: source.event, params: source.params },
    },
    { identity, context, rules: policy.rules() },
  )
  return { json, month: identity.time.slice(0, 7) }
}

/** @throws {RejectedError} if the record would be dropped, or if the tables refuse its time */
function requireKept(timeMs: number, limit: { nowMs: number; keptMs: number | undefined }): void {
  const { nowMs, keptMs = Infinity } = limit
  if (timeMs <= limits.recordTimeMs.after) throw new UnwantedError('its time is before 2020')
  if (timeMs > nowMs + limits.eventAheadMs) throw new RejectedError('its time is in the future')
  // The period may have been taken back since: gateways refuse such a record, too.
  if (timeMs < nowMs - keptMs)
    throw new UnwantedError('retention drops records of its time, or has dropped them')
}

/** A source without ids is identified by the number and text of its lines. */
function identityOf(
  { id, timeMs }: SourceEvent,
  { line, text }: SourceRow,
  [bundle, attempt]: [string, number],
) {
  const key = id === undefined ? ['line', bundle, line, text] : ['id', bundle, id]
  const sha256 = hash('sha256', JSON.stringify(attempt === 1 ? key : [...key, attempt]))
  return deriveIdentity({ id: sha256, time: '' }, 0, timeMs)
}

/** The device of a source that has no UUID: derived from the name that it has. */
const deviceUuid = (device: string) =>
  isUuid(device) ? device.toLowerCase() : printUuid(hash('sha256', `device ${device}`))

/** Errors of other kinds end the import. */
function reasonOf(error: unknown): string {
  if (error instanceof RejectedError) return error.message
  if (!(error instanceof IntakeError)) throw error
  const fields = error.errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')
  return `${error.code}: ${fields || error.message}`
}
