import t from 'tap'
import {
  defineAnalyst,
  defineAnalysts,
  findDifferencesOfAnalysts,
  rightsSql,
  viewsOf,
} from '../src/index.ts'
import { findAnalystDifferences } from '../src/analysts/inspect.ts'
import { removalSql } from '../src/analysts/rights.ts'
import { allDefinitions } from '../src/definitions/index.ts'
import { feedbackRow, insertRows, logRow } from './fixture.ts'
import { limited, startWithAnalysts } from './limited-analyst.ts'

const whole = limited({ name: 'whole' })
const beginning = limited({ name: 'beginning', bundles: ['com.example.*', 'org.one'] })
const reduced = limited({
  name: 'reduced',
  without: ['unique_user_id', 'email', 'text', 'device', 'params', 'extra', 'attachments'],
})
const partly = limited({ name: 'partly', without: ['email', 'text', 'unique_user_id'] })
const masked = limited({ name: 'masked', pseudonyms: ['unique_user_id', 'device_uuid', 'email'] })
const all = [whole, beginning, reduced, partly, masked]
const { owner, analyst, as } = await startWithAnalysts(t, all)

const head = { unique_user_id: 'ann', device_uuid: '00000000-0000-4000-8000-000000000001' }
const logs = [
  logRow({ ...head, device: { os: 'A' }, extra: { log: { sequence: 1 } } }),
  logRow({ ...head, extra: { log: { sequence: 3 } } }),
  ...['com.other', 'com.examples.app', 'org.one', 'com.example.two'].map((bundle_identifier) =>
    logRow({ ...head, bundle_identifier }),
  ),
]
const feedback = [
  feedbackRow({ ...head, email: 'ann@example.com' }),
  feedbackRow({ ...head, unique_user_id: 'bob', bundle_identifier: 'com.other' }),
]
await insertRows(owner, 'logs', logs)
await insertRows(owner, 'feedback', feedback)

t.test('only these views are not for analysts of some applications', async (t) => {
  const mine = new Set(viewsOf(whole).map(({ name }) => name))
  const others = allDefinitions.filter(
    ({ name, select }) => select !== undefined && !mine.has(name),
  )
  const names = others.map(({ name }) => name)
  t.same(names, [
    'outcomes',
    'counted_names',
    'recounts',
    'alerts',
    'alert_states',
    'alert_changes',
  ])
})

t.test('setup defines what is missing, and then nothing more', async (t) => {
  t.same(await defineAnalysts(owner), {
    defined: all.map(({ name }) => name).toSorted(),
    waiting: [],
  })
  t.same(await defineAnalysts(owner), { defined: [], waiting: [] })
})

t.test('every view shows an analyst of an application the same as all analysts', async (t) => {
  const mine = as(whole)
  for (const { name, columns } of viewsOf(whole)) {
    const shown = Object.keys(columns).filter((column) => column !== 'rules_since')
    const where =
      'bundle_identifier' in columns ? "WHERE bundle_identifier = 'com.example.app'" : ''
    const [expected, actual] = await Promise.all(
      [
        [analyst, 'intake'],
        [mine, 'intake_whole'],
      ].map(([client, database]) =>
        (client as typeof mine).lines(
          `SELECT ${shown.join(', ')} FROM ${database as string}.${name} ${where} ORDER BY ALL`,
        ),
      ),
    )
    if (name !== 'recent') t.same(actual, expected, name)
    t.notMatch(actual?.join(), /com\.other|bob/, name)
  }
  t.same(await mine.query('SELECT missing FROM intake_whole.gaps'), [{ missing: 1 }])
})

t.test('a beginning includes applications below it, and no other', async (t) => {
  t.same(
    await as(beginning).query(
      'SELECT DISTINCT bundle_identifier AS bundle FROM intake_beginning.logs ORDER BY bundle',
    ),
    [{ bundle: 'com.example.app' }, { bundle: 'com.example.two' }, { bundle: 'org.one' }],
  )
})

t.test('a column that is left out is in no view, and the other columns work', async (t) => {
  const mine = as(reduced)
  const columns = await mine.query<{ table: string; name: string }>(
    "SELECT table, name FROM system.columns WHERE database = 'intake_reduced'",
  )
  const names = new Set(columns.map(({ name }) => name))
  for (const name of [...reduced.without, 'device_os', 'attachment_count']) t.notOk(names.has(name))
  const shown = [...new Set(columns.map(({ table }) => table))].toSorted()
  t.same(
    shown,
    'counted deletions device_hours devices devices_flat feedback feedback_flat hours logs logs_flat sessions watermark'.split(
      ' ',
    ),
  )
  for (const table of new Set(columns.map((column) => column.table))) {
    await t.resolves(mine.query(`SELECT * FROM intake_reduced.${table}`), table)
  }
  t.same(await mine.query('SELECT count() AS n FROM intake_reduced.devices'), [{ n: 1 }])
})

t.test('with single columns left out, parts of the others can be read in every view', async (t) => {
  const mine = as(partly)
  for (const { name } of viewsOf(partly)) {
    await t.resolves(mine.query(`SELECT * FROM intake_partly.${name}`), name)
    await t.resolves(mine.query(`SELECT count() FROM intake_partly.${name}`), name)
  }
})

t.test('a pseudonym joins views, keeps its type, and is not the value', async (t) => {
  const mine = as(masked)
  const [row] = await mine.query<Record<string, string>>(
    `SELECT logs.unique_user_id AS user, logs.device_uuid AS device, feedback.email AS email,
       toTypeName(logs.device_uuid) AS uuid, count() AS n
     FROM intake_masked.logs AS logs
     JOIN intake_masked.feedback AS feedback USING (unique_user_id, device_uuid)
     JOIN intake_masked.devices AS devices USING (unique_user_id, device_uuid)
     GROUP BY ALL`,
  )
  t.match(row, { user: /^[0-9a-f]{64}$/, email: /^[0-9a-f]{64}$/, uuid: 'UUID', n: 2 })
  t.not(row?.['device'], head.device_uuid)
  const columns = await mine.query<{ name: string }>('DESCRIBE intake_masked.device_hours')
  t.notOk(
    columns.some(({ name }) => name === 'devices_state'),
    'a state tells if it has a device',
  )
  t.same(await mine.query('SELECT email FROM intake_masked.feedback WHERE email IS NULL'), [])
})

t.test('doctor finds what was changed by hand, and setup repairs the views', async (t) => {
  await owner.command(
    'CREATE OR REPLACE VIEW intake_whole.sessions DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT 1 AS one',
  )
  await owner.command('DROP VIEW intake_whole.gaps')
  await owner.command('CREATE VIEW intake_whole.mine AS SELECT 1 AS one')
  const found = await findDifferencesOfAnalysts(owner)
  t.same(found.toSorted(), [
    'analyst whole: not as defined: the view intake_whole.gaps by intake_whole-definer',
    'analyst whole: not as defined: the view intake_whole.mine by nobody',
    'analyst whole: not as defined: the view intake_whole.sessions by intake',
    'analyst whole: not as defined: the view intake_whole.sessions by intake_whole-definer',
  ])
  t.same(await defineAnalysts(owner), { defined: ['whole'], waiting: [] })
  t.same(await findDifferencesOfAnalysts(owner), [])
})

t.test('doctor finds rights that are not those of the definition', async (t) => {
  const wider = limited({
    ...whole,
    bundles: ['com.example.app', 'com.other'],
    pseudonyms: ['email'],
  })
  const found = (await findAnalystDifferences(owner, wider)).join('\n')
  for (const table of ['logs_raw', 'feedback_raw', 'attachments_raw', 'hours_raw', 'days_raw']) {
    t.match(found, `not as defined: the row policy of intake_whole-definer on intake.${table}`)
  }
  t.match(found, 'the right of intake_whole-definer to SELECT ON intake.pseudonym_key')
  const nobody = { ...wider, name: 'nobody' }
  t.notOk(await defineAnalyst(owner, nobody), 'users are missing')
  await owner.command('DROP DATABASE IF EXISTS intake_nobody')
  t.same(await findAnalystDifferences(owner, nobody), ['analyst nobody: everything is missing'])
})

t.test('doctor finds a second policy, and what not every server has', async (t) => {
  const policy = 'the row policy of intake_whole-definer on intake.logs_raw'
  const view = 'the view intake_whole.logs by intake_whole-definer'
  const reader = {
    async query<Row>(sql: string, params?: Record<string, string | string[]>) {
      const rows = await owner.query<Row & { fact?: string }>(sql, params)
      if (rows[0]?.fact === undefined) return rows
      const some = rows.map((row) =>
        row.fact?.startsWith(view) ? { ...row, isEverywhere: 0 } : row,
      )
      return [...some, { ...rows[0], fact: `${policy}\nSELECT 1`, isEverywhere: 1 }]
    },
  }
  t.same(await findAnalystDifferences(reader, whole), [
    `analyst whole: not as defined: ${view}`,
    `analyst whole: not as defined: ${policy}`,
  ])
})

t.test('a right to a column is another one than the right to its table', async (t) => {
  const { query } = owner
  const reader = {
    // No owner of this server may change the rights of users in a file.
    query: <Row>(sql: string, params?: Record<string, string | string[]>) =>
      query<Row>(
        sql.replace(
          'FROM system.grants',
          `FROM (SELECT * REPLACE (if(table = 'parts', 'name', column) AS column) FROM system.grants)`,
        ),
        params,
      ),
  }
  const right = 'analyst whole: not as defined: the right of intake_whole to SELECT ON system.parts'
  t.same(await findAnalystDifferences(reader, whole), [right, `${right} (name)`])
})

t.test('the SQL for administrators is valid', async (t) => {
  for (const statement of [
    ...all.flatMap((one) => [...rightsSql(one), ...rightsSql(one, 'fleet')]),
    ...removalSql(whole),
    ...removalSql(whole, 'fleet'),
  ]) {
    await t.resolves(
      owner.query('SELECT formatQuery({statement:String})', { statement }),
      statement,
    )
  }
})
