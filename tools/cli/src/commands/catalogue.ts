import { countNames, refreshCounts } from '@intake/records'
import { plural } from '@intake/runtime'
import type { Command } from 'commander'
import { withClickHouse } from '../clickhouse.ts'
import { print } from '../print.ts'

/** The first refresh reads all log events, with one statement for each day. */
const statementTimeoutMs = 120_000

export function define(catalogue: Command): void {
  catalogue
    .command('refresh')
    .description('count now what has changed: intake.hours, intake.catalogue, drift and warnings')
    .addHelpText(
      'after',
      '\nConsoles do the same: the hours every minute, the catalogue at least every hour, and less often if it takes long.',
    )
    .action(() =>
      withClickHouse(
        async (clickhouse) => {
          for (const name of countNames) {
            const counted = await refreshCounts({
              reader: clickhouse,
              store: clickhouse,
              name,
              lateMsMax: Infinity,
            })
            const unit = plural(counted, name === 'hours' ? 'hour' : 'day')
            print(`${name}\t${counted} ${unit} of applications counted`)
          }
        },
        { requestTimeoutMs: statementTimeoutMs },
      ),
    )
}
