import { createClickHouse, migrate } from '@intake/clickhouse'
import type { Command } from 'commander'
import { findEndpoint } from '../endpoints.ts'

/** `intake migrate`: brings the tables and views of ClickHouse up to date. */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('create or update the tables and views in ClickHouse')
    .action(async () => {
      const clickhouse = createClickHouse({ url: await findEndpoint('CLICKHOUSE_URL') })
      try {
        const { applied } = await migrate({ clickhouse })
        for (const name of applied) console.log(`applied ${name}`)
        if (applied.length === 0) console.log('nothing to apply')
      } finally {
        await clickhouse.close()
      }
    })
}
