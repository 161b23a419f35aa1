import { helpOf } from '@intake/health/problem-catalogue'
import { addDeadLetter } from '@intake/records'
import { hasUnknownCode, type ClickHouseError } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import type { Logger } from '@intake/runtime/process'
import type { DeliveryEvents, RowStore } from './ports.ts'
import { repeatInsert } from './repeat-insert.ts'

/**
 * Resolves to false if the row failed with an unrecognised code and its dead letter cannot be
 * written either: the row may not be at fault, and must be retried.
 */
export async function writeDeadLetter(
  { row, refusal }: { row: string; refusal: ClickHouseError },
  options: {
    store: RowStore
    kind: RecordKind
    events: DeliveryEvents
    log: Logger
    signal: AbortSignal
    clock: Clock
  },
): Promise<boolean> {
  const { kind, store, events, log, signal } = options
  const shouldGiveUp = () => hasUnknownCode(refusal)
  const failure = await repeatInsert({ ...options, rows: 1, shouldGiveUp }, () =>
    addDeadLetter(store, { table: kind, row, refusal, signal }),
  )
  if (failure !== undefined) {
    const help = helpOf(`insert_${failure.kind}`)
    log.error({ err: failure, kind, help }, 'writing a dead letter failed; its row will be retried')
    return false
  }
  events.deadLettered(kind)
  log.error(
    { kind, code: refusal.code, help: helpOf('dead_letters') },
    'a row was rejected and is now a dead letter',
  )
  return true
}
