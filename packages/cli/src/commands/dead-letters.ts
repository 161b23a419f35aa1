import {
  createClickHouse,
  dropDeadLetter,
  listDeadLetters,
  readDeadLetters,
  replayDeadLetter,
  type ClickHouse,
  type DeadLetter,
} from '@intake/clickhouse'
import type { Command } from 'commander'
import { findEndpoint, UsageError } from '../endpoints.ts'

/** `intake dead-letters list|show|replay|drop`: the rows that ClickHouse refused. */
export function addDeadLettersCommand(program: Command): void {
  const deadLetters = program
    .command('dead-letters')
    .description('records that ClickHouse refused; they wait here for a decision')

  deadLetters
    .command('list')
    .description('one line each, the oldest first')
    .action(() =>
      withClickHouse(async (clickhouse) => {
        const letters = await listDeadLetters(clickhouse)
        for (const { id, table, failed_at, error_code } of letters) {
          console.log([id, table, failed_at, `code ${error_code}`].join('\t'))
        }
        console.error(`${letters.length} dead letters`)
      }),
    )

  deadLetters
    .command('show <id>')
    .description('the record as it came, and why it was refused')
    .action((id: string) =>
      withClickHouse(async (clickhouse) => {
        for (const letter of await find(clickhouse, id))
          console.log(JSON.stringify(letter, null, 2))
      }),
    )

  each(deadLetters.command('replay [id]'), 'insert into its table again', replayDeadLetter)
  each(deadLetters.command('drop [id]'), 'forget for good', dropDeadLetter)
}

function each(
  command: Command,
  what: string,
  act: (clickhouse: ClickHouse, letter: DeadLetter) => Promise<void>,
): void {
  command
    .description(`${what}: the record with this id, or --all`)
    .option('--all', 'every dead letter')
    .action((id: string | undefined, options: { all?: boolean }) =>
      withClickHouse(async (clickhouse) => {
        if (id === '' || (id === undefined) !== (options.all ?? false))
          throw new UsageError('Name an id, or --all.')
        let failures = 0
        for (const letter of await find(clickhouse, id)) {
          try {
            await act(clickhouse, letter)
            console.log(`${letter.id}\tdone`)
          } catch (error) {
            failures++
            console.log(`${letter.id}\t${error instanceof Error ? error.message : 'failed'}`)
          }
        }
        if (failures > 0) throw new UsageError(`${failures} failed and are still dead letters.`)
      }),
    )
}

async function find(clickhouse: ClickHouse, id: string | undefined): Promise<DeadLetter[]> {
  const letters = await readDeadLetters(clickhouse, id)
  if (id !== undefined && letters.length === 0)
    throw new UsageError(`There is no dead letter ${id}.`)
  return letters
}

async function withClickHouse(work: (clickhouse: ClickHouse) => Promise<void>): Promise<void> {
  const clickhouse = createClickHouse({ url: await findEndpoint('CLICKHOUSE_URL') })
  try {
    await work(clickhouse)
  } finally {
    await clickhouse.close()
  }
}
