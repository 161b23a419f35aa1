import type { Bench } from '../bench.ts'
import { fleetDays, type Fleet } from '../queries/fleet.ts'
import { measureInsertCost } from '../queries/insert-cost.ts'
import { load } from '../queries/load.ts'
import { measureQueries } from '../queries/measure.ts'
import { startServer } from '../queries/server.ts'
import { queryBars } from '../report/plots.ts'
import { insertTable, judge, queryTable, storageTable } from './queries-tables.ts'
import type { SuiteResult } from './suite.ts'

const end = '2026-11-20T00:00:00Z'

const method = (
  rows: string,
) => `**Rows**: ${rows} events of ${fleetDays} days from 100,000 devices and five applications
(45, 25, 15, 10 and 5 % of the devices), made inside ClickHouse from hashes of their numbers, so every run has the same
rows. A session is 20 events of a device within seven minutes; 15 % of the sessions arrive up to an hour late, 3 % up
to ten days. Up to 200 inserts in the order of arrival; one row in a hundred is inserted a second time with another
\`ver\`. Then ClickHouse has merged what it merges by itself;
what it merges after a day without arrivals is merged at once. **Queries**: as the user \`analyst\`, over HTTP,
through the views, while a 20,000th of the rows arrives every second in one insert, with the same delays, each query five times; the table shows the
median of ClickHouse's own time. Queries of one application ask for the largest one and 30 days. Rows read are a share of all
rows, bytes read are uncompressed. **Inserts**: 5,000 rows of 1.3 KB each, into an empty table.`

/** Measures the queries of analysts. */
export async function queries(bench: Bench): Promise<SuiteResult> {
  const { quick, rows } = bench.options
  const fleet: Fleet = { rows: quick ? Math.min(rows, 1_000_000) : rows, endMs: Date.parse(end) }
  const say = (sentence: string) => bench.say(`queries: ${sentence}`)
  const server = await startServer(bench)
  say('cost of inserts')
  const inserts = await measureInsertCost(server, {
    rounds: quick ? 2 : 5,
    inserts: quick ? 4 : 10,
  })
  await load(server.sql, { fleet, progress: (loaded) => say(`${loaded} rows`) })
  say('asking')
  const measured = await measureQueries(server, fleet)
  await server.end()
  return {
    name: 'queries',
    title: 'Queries of analysts',
    method: method(fleet.rows.toLocaleString('en-US')),
    tables: [queryTable(measured), storageTable(measured), insertTable(inserts)],
    checks: judge(measured),
    plots: [queryBars(measured)],
  }
}
