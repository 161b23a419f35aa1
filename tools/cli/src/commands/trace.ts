import { quantity } from '@intake/runtime'
import {
  findReservations,
  searchOf,
  traceRecords,
  traceStates,
  type RecordSearch,
  type RecordServices,
  type Reservation,
  type SentKey,
  type Trace,
  type TracedRecord,
} from '@intake/records'
import type { ClickHouse } from '@intake/clickhouse'
import { isUuid } from '@intake/contract'
import type { Command } from 'commander'
import { UsageError } from '../endpoints.ts'
import { withRecords } from '../records.ts'
import { note, print, printJson, printRow } from '../print.ts'

interface TraceFlags {
  key?: string
  bundle?: string
  device?: string
  json?: boolean
}

const deadLetteredExitCode = 2
const unknownExitCode = 3
/** Timeout of a statement. Statements usually take less than a second, because they use indexes. */
const statementTimeoutMs = 10_000

const guide = `
The state of each record is one of
  queued         in Redis; no worker has taken it, or it was put back to be retried later
  in_progress    a worker has taken it and has not reported it stored
  stored         visible in ClickHouse
  dead_lettered  ClickHouse rejected it: intake dead-letters show <id>
  erased         it was erased
With several records, the state of the whole is that of the one that needs most attention, in the order
dead_lettered, queued, in_progress, erased, stored; "unknown" when there is none.

Examples:
  intake trace 019aa5e6-5c40-7abc-8def-0123456789ab    the id in a response
  intake trace 7d9f5c1e-1f0a-4b57-9d0f-2f1d7a0c9a11    request_id of an error or a log line
  intake trace --key order-17 --bundle com.example.app --device bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10
                                                       an Idempotency-Key, or the id that a client gave a record

Exit codes: 0 found, 2 a record is dead-lettered, 3 unknown, 1 the command failed.`

export function define(trace: Command): void {
  trace
    .argument('[id]', 'id of a record, of its request, or feedback.id')
    .option('--key <key>', 'the Idempotency-Key, or the id that the client gave the record')
    .option('--bundle <identifier>', 'the application that sent the key')
    .option('--device <uuid>', 'the device that sent the key')
    .option('--json', 'print state, records and reservations as JSON')
    .addHelpText('after', guide)
    .action((id: string | undefined, flags: TraceFlags) => {
      const find = async (services: RecordServices) => {
        const sent = id === undefined ? sentKey(flags) : undefined
        const reservations = sent && (await findReservations(services.redis, sent))
        const search =
          sent === undefined ? idSearch(id ?? '', flags) : searchOf(sent, reservations ?? [])
        report(await traceRecords(services, search), reservations, flags)
      }
      const withoutRedis = async (clickhouse: ClickHouse, failure: Error) => {
        // A search by a client's own key needs Redis, because only Redis knows which id belongs to
        // the key.
        if (id === undefined) throw failure
        const found = await traceRecords({ clickhouse, redis: failure }, idSearch(id, flags))
        report(found, undefined, flags)
      }
      return withRecords(find, { statementTimeoutMs, withoutRedis })
    })
}

function idSearch(id: string, { key, bundle, device }: TraceFlags): RecordSearch {
  if ((key ?? bundle ?? device) !== undefined)
    throw new UsageError('Give an id, or --key with --bundle and --device, not both.')
  if (!isUuid(id)) throw new UsageError('An id is a UUID. For another key use --key.')
  return { id: id.toLowerCase() }
}

function sentKey({ key, bundle, device }: TraceFlags): SentKey {
  if (!key || !bundle || !device)
    throw new UsageError('Give an id, or --key with --bundle and --device.')
  if (!isUuid(device)) throw new UsageError('A device is named by its UUID.')
  return { key, bundleIdentifier: bundle, deviceUuid: device }
}

function report(
  trace: Trace,
  reservations: readonly Reservation[] | undefined,
  { json }: TraceFlags,
): void {
  const { records, unreadable_frames, queue_unread, tables_unread } = trace
  if (records.length === 0 && queue_unread !== undefined && tables_unread !== undefined)
    throw new Error(`Neither Redis nor ClickHouse can be asked. ${queue_unread} ${tables_unread}`)
  if (records.length === 0 && queue_unread !== undefined)
    throw new Error(`Not in ClickHouse, and Redis cannot be asked. ${queue_unread}`)
  if (records.length === 0 && tables_unread !== undefined)
    throw new Error(`Not in Redis, and ClickHouse cannot be asked. ${tables_unread}`)
  const states = new Set(records.map(({ state }) => state))
  const state = traceStates.find((one) => states.has(one)) ?? 'unknown'
  if (json) printJson({ state, ...trace, ...(reservations && { reservations }) })
  else {
    if (records.length === 0) print('unknown')
    for (const record of records) printRow(cellsOf(record))
    if (queue_unread !== undefined)
      note(`Redis cannot be asked, so this may not be the latest state. ${queue_unread}`)
    if (tables_unread !== undefined)
      note(`ClickHouse cannot be asked, so this is what Redis says. ${tables_unread}`)
    if (states.has('erased'))
      note(
        'Only the id of an erased record is left, with the time in it; intake erasures list shows the erasures.',
      )
    for (const sentence of explain(state, reservations, unreadable_frames)) note(sentence)
  }
  if (state === 'dead_lettered') process.exitCode = deadLetteredExitCode
  if (state === 'unknown') process.exitCode = unknownExitCode
}

function cellsOf(record: TracedRecord): string[] {
  const { state, kind, id, bundle_identifier, device_uuid, request_id, received_at } = record
  const code = record.error_code === undefined ? [] : [`code ${record.error_code}`]
  const whose = `${bundle_identifier} ${device_uuid}`
  if (state === 'erased') return [state, kind, id, whose]
  return [state, kind, id, whose, `request ${request_id}`, `accepted ${received_at}`, ...code]
}

function explain(
  state: string,
  reservations: readonly Reservation[] = [],
  unreadableFrames: number,
): string[] {
  const sentences = reservations.map(({ scope, id }) =>
    scope === 'batches'
      ? `The key belongs to a batch: ${id}.`
      : `The key belongs to ${scope}: ${id}.`,
  )
  if (unreadableFrames > 0) {
    sentences.push(
      `This version cannot read ${quantity(unreadableFrames, 'frame')} in Redis, which may hold it (docs/operations/problems.md#frame_unreadable).`,
    )
  }
  if (state !== 'unknown') return sentences
  return [
    ...sentences,
    reservations.length > 0
      ? 'Nothing was stored under the key after it was reserved: the request was refused, its sender is suppressed, or the record is older than its retention.'
      : 'No record with this id or key was acknowledged, its sender is suppressed, it was dropped from the dead letters, or it is older than its retention.',
  ]
}
