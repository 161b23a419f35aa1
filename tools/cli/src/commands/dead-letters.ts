import { plural } from '@intake/runtime'
import type { ClickHouse } from '@intake/clickhouse'
import {
  dropDeadLetters,
  listDeadLetters,
  readDeadLetterPages,
  readDeadLetters,
  replayDeadLetters,
  type DeadLetter,
  type DeadLetterOutcome,
} from '@intake/records'
import type { Command } from 'commander'
import { withClickHouse } from '../clickhouse.ts'
import { UsageError } from '../endpoints.ts'
import { note, printJson, printRow } from '../print.ts'

/** `intake dead-letters list|show|replay|drop`: manages the rows that ClickHouse rejected. */
export function defineDeadLetters(deadLetters: Command): void {
  deadLetters
    .command('list')
    .description('list them, one per line, oldest first')
    .option('--json', 'print them as JSON')
    .action((options: { json?: boolean }) =>
      withClickHouse(async (clickhouse) => {
        const letters = await listDeadLetters(clickhouse)
        if (options.json) return printJson(letters)
        for (const { id, table, failed_at, error_code } of letters) {
          printRow([id, table, failed_at, `code ${error_code}`])
        }
        note(`${letters.length} ${plural(letters.length, 'dead letter')}`)
      }),
    )

  deadLetters
    .command('show <id>')
    .description('print the record unchanged, and why it was rejected')
    .action((id: string) =>
      withClickHouse(async (clickhouse) => {
        for (const letter of await find(clickhouse, id)) printJson(letter, 2)
      }),
    )

  each(deadLetters.command('replay [id]'), 'insert again into the table', replayDeadLetters)
  each(deadLetters.command('drop [id]'), 'delete permanently', async (clickhouse, letters) => {
    await dropDeadLetters(clickhouse, letters)
    return new Map(letters.map((letter) => [letter, undefined]))
  })
}

function each(
  command: Command,
  what: string,
  act: (
    clickhouse: ClickHouse,
    letters: readonly DeadLetter[],
  ) => Promise<Map<DeadLetter, DeadLetterOutcome>>,
): void {
  command
    .description(`${what}: the record with this id, or --all`)
    .option('--all', 'every dead letter')
    .action((id: string | undefined, options: { all?: boolean }) =>
      withClickHouse(async (clickhouse) => {
        if (id === '' || (id === undefined) !== (options.all ?? false))
          throw new UsageError('Name an id, or --all.')
        let done = 0
        let failures = 0
        for await (const page of pages(clickhouse, id)) {
          for (const [letter, failure] of await act(clickhouse, page)) {
            if (failure === undefined) done++
            else failures++
            printRow([letter.id, failure?.message ?? 'done'])
          }
          note(`${done} done, ${failures} failed`)
        }
        if (failures > 0) throw new UsageError(`${failures} failed and are still dead letters.`)
      }),
    )
}

async function* pages(
  clickhouse: ClickHouse,
  id: string | undefined,
): AsyncGenerator<DeadLetter[]> {
  if (id === undefined) yield* readDeadLetterPages(clickhouse)
  else yield find(clickhouse, id)
}

async function find(clickhouse: ClickHouse, id: string): Promise<DeadLetter[]> {
  const letters = await readDeadLetters(clickhouse, id)
  if (letters.length === 0) throw new UsageError(`There is no dead letter ${id}.`)
  return letters
}
