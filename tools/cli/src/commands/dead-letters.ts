import { quantity } from '@intake/runtime'
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
import type { JournalAction } from '@intake/access'
import type { Command } from 'commander'
import { withClickHouse } from '../clickhouse.ts'
import { noteChange } from '../journal.ts'
import { UsageError } from '../endpoints.ts'
import { note, printJson, printRow } from '../print.ts'
import { withRedis } from '../with-redis.ts'

export function define(deadLetters: Command): void {
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
        note(quantity(letters.length, 'dead letter'))
      }),
    )

  deadLetters
    .command('show <id>')
    .description('print the record unchanged, and why it was rejected, as JSON')
    .option('--json', 'the same')
    .action((id: string) =>
      withClickHouse(async (clickhouse) => {
        for (const letter of await find(clickhouse, id)) printJson(letter, 2)
      }),
    )

  each(deadLetters.command('replay [id]'), {
    what: 'insert again into the table',
    action: 'dead-letters-replayed',
    act: replayDeadLetters,
  })
  each(deadLetters.command('drop [id]'), {
    what: 'delete permanently',
    action: 'dead-letters-dropped',
    async act(clickhouse, letters) {
      await dropDeadLetters(clickhouse, letters)
      return new Map(letters.map((letter) => [letter, undefined]))
    },
  })
}

function each(
  command: Command,
  change: {
    what: string
    action: JournalAction
    act: (
      clickhouse: ClickHouse,
      letters: readonly DeadLetter[],
    ) => Promise<Map<DeadLetter, DeadLetterOutcome>>
  },
): void {
  const { what, action, act } = change
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
          if (done + failures === 0) {
            const entry = { action, subject: id ?? 'all', detail: { inFirstPage: page.length } }
            await withRedis((redis) => noteChange(redis, entry))
          }
          for (const [letter, failure] of await act(clickhouse, page)) {
            if (failure === undefined) done++
            else failures++
            printRow([letter.id, failure?.message ?? 'done'])
          }
          note(`${done} done, ${failures} failed`)
        }
        if (done + failures === 0) note('There are no dead letters.')
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
