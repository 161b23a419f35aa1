import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createClickHouse } from '@intake/clickhouse'
import { refreshCounts } from '@intake/records'
import { logRow, member, startServer, uuidV7 } from '../../packages/schema/test/fixture.ts'
import { folder } from './files.ts'

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
  'com.example.shop',
  'x\\',
  "\\') UNION ALL SELECT 424242 -- ",
  "it's {a,b} %41 ${application}",
]

t.test('each panel counts the chosen applications, whatever their names are', async (t) => {
  const { server, connect } = await startServer(t)
  const owner = connect(t)
  const time = new Date(Date.now() - 60_000).toISOString()
  // The application at index n sends n + 1 events.
  const rows = names.flatMap((bundle_identifier, index) =>
    Array.from({ length: index + 1 }, () =>
      logRow({ id: uuidV7(time), time, received_at: time, bundle_identifier, event: 'crash' }),
    ),
  )
  await owner.insertRows({ table: 'logs', members: [member(rows)], rows: rows.length })
  await refreshCounts({ reader: owner, store: owner, name: 'hours' })
  const analyst = createClickHouse({ url: server.analystUrl, requestTimeoutMs: 60_000 })
  t.teardown(() => analyst.close())

  // Each row is an option of the variable. The plugin takes the first column as the option's value
  // and the second as its text.
  const variable = dashboard.templating.list.find(({ name }) => name === 'application')
  const options = (await analyst.query<object>(variable?.query ?? '')).map(
    (row) => Object.values(row) as [value: string, text?: string],
  )
  const valueOf = new Map(options.map(([value, text = value]) => [text, value]))
  t.same([...valueOf.keys()].toSorted(), names.toSorted())

  const count = dashboard.panels.find(({ title }) => title === 'Events')?.targets[0]?.rawSql ?? ''
  for (const [index, name] of names.entries()) {
    for (const { title, targets } of dashboard.panels) {
      for (const { rawSql } of targets) {
        const sql = asSent(rawSql, [valueOf.get(name) ?? name])
        t.notMatch(await analyst.query<object>(sql), /424242/, `${title}: ${name}`)
      }
    }
    t.match(await analyst.query(asSent(count, [valueOf.get(name) ?? name])), [
      { events: index + 1 },
    ])
  }
  t.match(await analyst.query(asSent(count, [...valueOf.values()])), [{ events: rows.length }])
  // A link to the dashboard can give the variable any value. The query must be valid even if no
  // option has this value.
  for (const name of names.slice(1))
    t.match(await analyst.query(asSent(count, [name])), [{ events: Number }], name)
})
