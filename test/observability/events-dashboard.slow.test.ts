import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Type, type TProperties } from 'typebox'
import { Value } from 'typebox/value'
import { refreshCounts } from '@intake/records'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { atTime, insertRows, logRow, startServer } from '../../packages/schema/test/fixture.ts'
import { demoRows } from '../../tools/cli/test/demo-rows.ts'
import { folder, readYaml } from './files.ts'

interface EventsDashboard {
  templating: { list: { name: string; query: string }[] }
  panels: { title: string; targets: { rawSql: string }[] }[]
}

const dashboard = JSON.parse(
  readFileSync(join(folder, 'events/events.json'), 'utf8'),
) as EventsDashboard

/** For each format of a variable: how Grafana inserts the variable's values into a query. */
const formats: Record<string, (values: readonly string[]) => string> = {
  singlequote: (values) => values.map((value) => `'${value.replaceAll("'", "\\'")}'`).join(','),
  percentencode: ([first = '', ...others]) =>
    encodeURIComponent(
      others.length === 0 ? first : `{${[first, ...others].join(',')}}`,
    ).replaceAll(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
}

/** Returns a query as Grafana's ClickHouse plugin sends it. The time range is the last day. */
const asSent = (sql: string, values: readonly string[]): string =>
  sql
    .replaceAll(/\$\{application(?::(\w+))?\}/g, (_, format = '') => formats[format]!(values))
    .replaceAll(/\$__timeFilter\((\w+)\)/g, "$1 >= now('UTC') - INTERVAL 1 DAY AND $1 <= now()")
    .replaceAll(
      /\$__timeInterval\((\w+)\)/g,
      'toStartOfInterval(toDateTime($1), INTERVAL 60 second)',
    )

const names = [
  'com.example.demo.shop',
  'x\\',
  "\\') UNION ALL SELECT 424242 -- ",
  "it's {a,b} %41 ${application}",
]

t.test('each panel counts the chosen applications, whatever their names are', async (t) => {
  const { server, connect } = await startServer(t)
  const owner = connect(t)
  const time = new Date(Date.now() - 60_000).toISOString()
  const { logs } = demoRows({ events: 300, days: 1, now: Date.now() - 60_000 })
  const [shop = '', ...others] = names
  // The first sends what `intake demo` does, the application at index n sends n crashes.
  const rows = [
    ...logs.filter((row) => row.bundle_identifier === shop),
    ...others.flatMap((bundle_identifier, index) =>
      Array.from({ length: index + 1 }, () =>
        logRow({ ...atTime(time), bundle_identifier, event: 'crash' }),
      ),
    ),
  ]
  await insertRows(owner, 'logs', rows)
  await refreshCounts({ reader: owner, store: owner, name: 'hours' })
  const analyst = openClickHouse(t, { url: server.analystUrl, requestTimeoutMs: 60_000 })

  // Each row is an option of the variable. The plugin takes the first column as the option's value
  // and the second as its text.
  const variable = dashboard.templating.list.find(({ name }) => name === 'application')
  const options = (await analyst.query<object>(variable?.query ?? '')).map(
    (row) => Object.values(row) as [value: string, text?: string],
  )
  const valueOf = new Map(options.map(([value, text = value]) => [text, value]))
  t.same([...valueOf.keys()].toSorted(), names.toSorted())

  const count = dashboard.panels.find(({ title }) => title === 'Events')?.targets[0]?.rawSql ?? ''
  for (const name of names) {
    for (const { title, targets } of dashboard.panels) {
      for (const { rawSql } of targets) {
        const sql = asSent(rawSql, [valueOf.get(name) ?? name])
        t.notMatch(await analyst.query<object>(sql), /424242/, `${title}: ${name}`)
      }
    }
    const events = rows.filter((row) => row.bundle_identifier === name).length
    t.match(await analyst.query(asSent(count, [valueOf.get(name) ?? name])), [{ events }])
  }
  t.match(await analyst.query(asSent(count, [...valueOf.values()])), [{ events: rows.length }])
  // A link to the dashboard can give the variable any value. The query must be valid even if no
  // option has this value.
  for (const name of names.slice(1))
    t.match(await analyst.query(asSent(count, [name])), [{ events: Number }], name)
})

const exact = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })
/** What Grafana reads of a rule; it ignores unknown fields, so a misspelt one would have no effect. */
const Rules = exact({
  apiVersion: Type.Literal(1),
  groups: Type.Tuple([
    exact({
      orgId: Type.Literal(1),
      name: Type.String({ minLength: 1 }),
      folder: Type.String({ minLength: 1 }),
      interval: Type.String({ pattern: '^\\d+[smh]$' }),
      rules: Type.Tuple([
        exact({
          uid: Type.String({ pattern: '^[\\w-]{1,40}$' }),
          title: Type.String({ minLength: 1 }),
          condition: Type.Literal('fires'),
          data: Type.Tuple([
            exact({
              refId: Type.Literal('states'),
              datasourceUid: Type.String(),
              relativeTimeRange: exact({ from: Type.Integer(), to: Type.Literal(0) }),
              model: exact({
                refId: Type.Literal('states'),
                editorType: Type.Literal('sql'),
                queryType: Type.Literal('table'),
                format: Type.Literal(1),
                rawSql: Type.String(),
              }),
            }),
            exact({
              refId: Type.Literal('fires'),
              datasourceUid: Type.Literal('__expr__'),
              model: exact({
                refId: Type.Literal('fires'),
                type: Type.Literal('threshold'),
                expression: Type.Literal('states'),
                conditions: Type.Tuple([
                  exact({
                    evaluator: exact({
                      type: Type.Literal('gt'),
                      params: Type.Tuple([Type.Number()]),
                    }),
                  }),
                ]),
              }),
            }),
          ]),
          noDataState: Type.Enum(['OK', 'NoData', 'Alerting']),
          execErrState: Type.Enum(['OK', 'Error', 'Alerting', 'KeepLast']),
          for: Type.String(),
          labels: Type.Record(Type.String(), Type.String()),
          annotations: Type.Record(Type.String(), Type.String()),
        }),
      ]),
    }),
  ]),
})

t.test('the rule for Grafana fires for each alert that fires, and is complete', async (t) => {
  const file = readYaml('grafana/alerting/events.yml')
  t.same([...Value.Errors(Rules, file)], [])
  const [rule] = Value.Parse(Rules, file).groups[0].rules
  const { datasourceUid, model } = rule.data[0]
  const { datasources } = readYaml('grafana/datasources/clickhouse.yml') as {
    datasources: { uid: string }[]
  }
  t.ok(
    datasources.some(({ uid }) => uid === datasourceUid),
    'its data source is provisioned',
  )

  const { server, connect } = await startServer(t)
  const owner = connect(t)
  for (const state of ['firing', 'unknown', 'ok']) {
    await owner.command(`INSERT INTO intake.alerts_raw
      (id, change, bundle_identifier, event, state, since, evaluated_at, valid_until)
      SELECT '${state}', 1, 'com.example.app', 'crash', '${state}', now64(3), now64(3), now64(3, 'UTC') + INTERVAL 1 HOUR`)
  }
  const analyst = openClickHouse(t, { url: server.analystUrl, requestTimeoutMs: 60_000 })
  const rows = await analyst.query<{ id: string; fires: number }>(model.rawSql)
  const [limit] = rule.data[1].model.conditions[0].evaluator.params
  const ids = rows.filter(({ fires }) => fires > limit).map(({ id }) => id)
  t.same(ids, ['firing'])
  // Grafana takes the one number of a row as its value, and its texts as labels.
  for (const row of rows) {
    const numbers = Object.values(row).filter((value) => typeof value === 'number')
    t.equal(numbers.length, 1, row.id)
  }
  const named = JSON.stringify(rule.annotations).matchAll(/\$labels\.(\w+)/g)
  for (const [, label = ''] of named) t.ok(label in rows[0]!, label)
})
