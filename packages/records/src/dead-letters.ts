import { hash } from 'node:crypto'
import { isUuid, printUuid } from '@intake/contract'
import {
  ClickHouseError,
  insertLines,
  isoTime,
  type ClickHouse,
  type RecordTable,
} from '@intake/clickhouse'
import { tryJson } from '@intake/runtime'
import { rowsAfter } from './rows-after.ts'
import { recountHours } from './counts/recount.ts'

interface RowIdentity {
  bundle_identifier: string
  /** The time in UTC; 1970 if it cannot be read. */
  time: string
  /** The id of the record; if the row has none, it is derived from the bytes of the row. */
  id: string
  device_uuid: string
}

/** A row that ClickHouse rejected, kept until an operator has replayed or dropped it. */
export interface DeadLetter extends RowIdentity {
  table: RecordTable
  /** UTC. */
  failed_at: string
  error_code: number
  /** ClickHouse's message. It quotes the row. */
  error: string
  row: string
}

/** Adding the same row again replaces it. Rejects with the errors of `insertRows`. */
export async function addDeadLetter(
  clickhouse: Pick<ClickHouse, 'insertRows'>,
  letter: { table: RecordTable; row: string; refusal: ClickHouseError; signal?: AbortSignal },
): Promise<void> {
  const { table, row, refusal, signal } = letter
  const now = new Date()
  const entry = {
    ver: now.getTime(),
    table,
    ...parseRowIdentity(row),
    failed_at: now.toISOString(),
    error_code: refusal.code ?? 0,
    error: refusal.serverText ?? refusal.message,
    row,
  }
  await insertLines(clickhouse, { table: 'dead_letters', lines: [JSON.stringify(entry)], signal })
}

/** Lists all dead letters, oldest first, without `error` and `row`, which may be large. */
export async function listDeadLetters(
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<Omit<DeadLetter, 'error' | 'row'>[]> {
  return clickhouse.query(
    `SELECT table, bundle_identifier, time, id, device_uuid, failed_at, error_code
     FROM intake.dead_letters ORDER BY failed_at, id`,
  )
}

/** Reads the dead letters with this id: one, unless several devices chose the same id. */
export async function readDeadLetters(
  clickhouse: Pick<ClickHouse, 'query'>,
  id: string,
): Promise<DeadLetter[]> {
  return clickhouse.query<DeadLetter>(
    `SELECT * FROM intake.dead_letters WHERE toString(id) = {id:String} ORDER BY ${order.join()}`,
    { id },
  )
}

/** Pages of `pageLetters`, oldest first. The caller may drop a page before it reads the next. */
export async function* readDeadLetterPages(
  clickhouse: Pick<ClickHouse, 'query'>,
): AsyncGenerator<DeadLetter[]> {
  let after: DeadLetter | undefined
  do {
    const rest = rowsAfter(order, after)
    const page: DeadLetter[] = await clickhouse.query<DeadLetter>(
      `SELECT * FROM intake.dead_letters WHERE ${rest.sql} ORDER BY ${order.join()} LIMIT ${pageLetters}`,
      rest.params,
    )
    if (page.length > 0) yield page
    after = page.length === pageLetters ? page.at(-1) : undefined
  } while (after !== undefined)
}

const order = ['failed_at', 'id', 'device_uuid', 'bundle_identifier', 'table'] as const
const pageLetters = 100

/** Undefined if the dead letter is resolved, otherwise the reason why it remains. */
export type DeadLetterOutcome = ClickHouseError | undefined

/**
 * Inserts the rows of dead letters again, and drops the dead letters once the insert is confirmed.
 * A row that is rejected again remains a dead letter and does not affect the others.
 */
export async function replayDeadLetters(
  clickhouse: Pick<ClickHouse, 'insertRows' | 'insertSelect'>,
  letters: readonly DeadLetter[],
): Promise<Map<DeadLetter, DeadLetterOutcome>> {
  const outcomes = new Map<DeadLetter, DeadLetterOutcome>()
  for (const table of new Set(letters.map((letter) => letter.table))) {
    const ofTable = letters.filter((letter) => letter.table === table)
    await insertOrHalve(clickhouse, ofTable, outcomes)
  }
  const stored = letters.filter((letter) => outcomes.get(letter) === undefined)
  await recountReplayed(clickhouse, stored)
  await dropDeadLetters(clickhouse, stored)
  return outcomes
}

/** Otherwise only hours with new arrivals are counted, and these events arrived long ago. */
async function recountReplayed(
  clickhouse: Pick<ClickHouse, 'insertSelect'>,
  letters: readonly DeadLetter[],
): Promise<void> {
  const ids = letters.filter(({ table }) => table === 'logs').map(({ id }) => id)
  if (ids.length === 0) return
  await recountHours(clickhouse, {
    sql: "time IN (SELECT UUIDv7ToDateTime(arrayJoin({ids:Array(UUID)}), 'UTC')) AND id IN {ids:Array(UUID)}",
    params: { ids },
  })
}

/** @param letters dead letters of one table */
async function insertOrHalve(
  clickhouse: Pick<ClickHouse, 'insertRows'>,
  letters: readonly DeadLetter[],
  outcomes: Map<DeadLetter, DeadLetterOutcome>,
): Promise<void> {
  const [first] = letters
  if (first === undefined) return
  try {
    await insertLines(clickhouse, { table: first.table, lines: letters.map(({ row }) => row) })
    for (const letter of letters) outcomes.set(letter, undefined)
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error
    const isOfRows = error.kind === 'rejected' || error.kind === 'split'
    if (letters.length === 1 || !isOfRows) {
      for (const letter of letters) outcomes.set(letter, error)
      return
    }
    const middle = Math.ceil(letters.length / 2)
    await insertOrHalve(clickhouse, letters.slice(0, middle), outcomes)
    await insertOrHalve(clickhouse, letters.slice(middle), outcomes)
  }
}

export async function dropDeadLetters(
  clickhouse: Pick<ClickHouse, 'insertRows'>,
  letters: readonly DeadLetter[],
): Promise<void> {
  const lines = letters.map((letter) => {
    // The version is higher than that of the dead letter, even if the clock of the worker that
    // wrote the dead letter was ahead of this clock.
    const ver = Math.max(Date.now(), Date.parse(isoTime(letter.failed_at)) + 1)
    return JSON.stringify({ ...letter, ver, error: '', row: '', is_deleted: 1 })
  })
  await insertLines(clickhouse, { table: 'dead_letters', lines })
}

const isoTimePattern = /^(20|21)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const noTime = '1970-01-01T00:00:00.000Z'
const noUuid = '00000000-0000-0000-0000-000000000000'

/** What cannot be read is empty (1970, zeros). A missing id is derived from the row. */
function parseRowIdentity(row: string): RowIdentity {
  const { bundle_identifier, time, id, device_uuid } = Object(tryJson(row)) as Record<
    string,
    unknown
  >
  return {
    bundle_identifier: typeof bundle_identifier === 'string' ? bundle_identifier : '',
    time: typeof time === 'string' && isoTimePattern.test(time) ? time : noTime,
    id: typeof id === 'string' && isUuid(id) ? id : printUuid(hash('sha256', row)),
    device_uuid: typeof device_uuid === 'string' && isUuid(device_uuid) ? device_uuid : noUuid,
  }
}
