import type { ClickHouse } from '@intake/clickhouse'
import { alterStored, crashExample, crashText } from '@intake/schema'
import { countRows } from '../count-rows.ts'
import type { Condition } from './subject.ts'

/** The table whose rows may have the stack trace of a crash that is erased. */
export const exampleTable = 'alerts_raw'

/** So many take at most 65 KiB. */
const examplesMax = 500

const change = "concat(id, ' ', toString(change))"
/** A state of an alert, and the hash of the stack trace that it has. */
const example = `concat(${change}, ' ', hex(SHA256(detail)))`

/**
 * Finds the stack traces of some log events in the states of alerts by the stored crashes, so it
 * must run before these are deleted. They may be more than fit into memory; alerts are not.
 */
export async function findExamples(
  clickhouse: Pick<ClickHouse, 'query'>,
  { sql, params }: Condition,
): Promise<string[]> {
  const found = await clickhouse.query<{ example: string }>(
    `SELECT DISTINCT ${example} AS example FROM intake.${exampleTable}
     WHERE detail IN (
       SELECT ${crashExample(crashText)} AS trace FROM intake.logs_raw
       WHERE event = 'crash' AND ${sql} AND trace IN (
         SELECT detail FROM intake.${exampleTable} WHERE detail != ''))`,
    params,
  )
  return found.map((row) => row.example)
}

export async function countExamples(
  clickhouse: Pick<ClickHouse, 'query'>,
  examples: readonly string[],
): Promise<number> {
  let rows = 0
  for (const some of someOf(examples)) {
    const from = `FROM intake.${exampleTable} WHERE ${example} IN {examples:Array(String)}`
    rows += await countRows(clickhouse, from, { examples: some })
  }
  return rows
}

/** Starts to remove them. ClickHouse keeps the text of mutations, so that names alerts only. */
export async function eraseExamples(
  clickhouse: Pick<ClickHouse, 'query' | 'command' | 'cluster'>,
  examples: readonly string[],
): Promise<void> {
  if ((await countExamples(clickhouse, examples)) === 0) return
  const update = alterStored(
    clickhouse,
    exampleTable,
    `UPDATE detail = '' WHERE ${change} IN {changes:Array(String)} SETTINGS mutations_sync = 0`,
  )
  for (const some of someOf(examples)) {
    const changes = some.map((one) => one.slice(0, one.lastIndexOf(' ')))
    await clickhouse.command(update, { changes })
  }
}

/** Divides them, because ClickHouse refuses parameters of more than 128 KiB. */
function* someOf(examples: readonly string[]): Generator<string[]> {
  for (let at = 0; at < examples.length; at += examplesMax) {
    yield examples.slice(at, at + examplesMax)
  }
}
