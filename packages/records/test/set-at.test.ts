import t from 'tap'
import { findAnalyst, writeAnalyst } from '@intake/schema'
import { startServer } from '../../schema/test/fixture.ts'
import { readPeriods, writePeriod } from '../src/index.ts'

const { connect } = await startServer(t)
const clickhouse = connect(t)
const bundleIdentifier = 'com.example.app'

/** As if the clock had been ahead when the rows were set, and were right again. */
const setAhead = (table: string, columns: string) =>
  clickhouse.command(
    `INSERT INTO intake.${table} SELECT ${columns}, now64(3, 'UTC') + INTERVAL 3 HOUR AS set_at FROM intake.${table}`,
  )

t.test('a period holds that is set when the clock has stepped back', async (t) => {
  const set = async (days: number | undefined) => {
    await writePeriod(clickhouse, { kind: 'logs', days: days && 3 * days })
    await writePeriod(clickhouse, { kind: 'logs', bundleIdentifier, days })
  }
  await set(10)
  await setAhead('retention', 'kind, days')
  await setAhead('application_retention', 'kind, bundle_identifier, days')
  await set(20)
  const periods = await readPeriods(clickhouse)
  t.equal(periods.general.logs, 60)
  t.match(periods.applications, [{ days: 20 }])
  await set(undefined)
  const { general, applications } = await readPeriods(clickhouse)
  t.same([general.logs, applications], [undefined, []])
})

t.test('so does a removal of an analyst', async (t) => {
  const analyst = { bundles: [bundleIdentifier], without: [], pseudonyms: [], passwordSha256: '' }
  await writeAnalyst(clickhouse, { name: 'mobile', ...analyst })
  await setAhead('analysts', 'name, bundles, without, pseudonyms, password_sha256, is_removed')
  t.ok(await findAnalyst(clickhouse, 'mobile'))
  await writeAnalyst(clickhouse, { name: 'mobile', ...analyst }, { isRemoved: true })
  t.notOk(await findAnalyst(clickhouse, 'mobile'))
})
