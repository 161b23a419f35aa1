import type { Bench } from '../bench.ts'
import { fleetDays, type Fleet } from '../queries/fleet.ts'
import { measureInsertCost } from '../queries/insert-cost.ts'
import { load } from '../queries/load.ts'
import { measureQueries, type Measured } from '../queries/measure.ts'
import { startServer, type Server } from '../queries/server.ts'
import { queryBars } from '../report/plots.ts'
import { insertTable, judge, queryTable, storageTable } from './queries-tables.ts'
import type { SuiteResult } from './suite.ts'

/** Settings of the analyst's profile that decision 11 added, as they were before. */
const settingsBefore: Record<string, string> = {
  optimize_move_to_prewhere_if_final: '0',
  max_threads_min_free_memory_per_thread: String(1024 ** 3),
}

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
rows, bytes read are uncompressed. **Before** and **after** are two servers with the same rows, one after the other: the
tables before [decision 11](../../docs/decisions/0011-tables-by-measurement.md) and those of this commit. **Inserts**: 5,000
rows of 1.3 KB each, into empty tables in turn (ABBA).`

/** The questions of analysts against the tables before decision 11 and those of now. */
export async function queries(bench: Bench): Promise<SuiteResult> {
  const { quick, rows } = bench.options
  const fleet: Fleet = { rows: quick ? Math.min(rows, 1_000_000) : rows, endMs: Date.parse(end) }
  const [before, after] = [await startServer(bench, 'before'), await startServer(bench, 'after')]
  bench.say('queries: cost of inserts')
  const inserts = await measureInsertCost([before, after], {
    rounds: quick ? 2 : 5,
    inserts: quick ? 4 : 10,
  })
  const measured = {
    before: await measureServer(bench, { server: before, fleet, settings: settingsBefore }),
    after: await measureServer(bench, { server: after, fleet, settings: {} }),
  }
  return {
    name: 'queries',
    title: 'Queries of analysts',
    method: method(fleet.rows.toLocaleString('en-US')),
    tables: [queryTable(measured), storageTable(measured), insertTable(inserts)],
    checks: judge(measured, inserts),
    plots: [queryBars(measured)],
    raw: { measured, inserts },
  }
}

async function measureServer(
  bench: Bench,
  options: { server: Server; fleet: Fleet; settings: Record<string, string> },
): Promise<Measured> {
  const { server, fleet, settings } = options
  const say = (sentence: string) => bench.say(`queries, ${server.tables}: ${sentence}`)
  await load(server.sql, { fleet, progress: (rows) => say(`${rows} rows`) })
  say('asking')
  const measured = await measureQueries(server, { fleet, settings })
  await server.end()
  return measured
}
