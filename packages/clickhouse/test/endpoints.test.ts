import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { serve } from '@intake/test-kit/serve'
import { failureOf, logRow, member } from '../../schema/test/fixture.ts'

/**
 * Starts a server that responds as the test decides, and records the requests. The question for the
 * columns of a table is not recorded, and always gets a response.
 */
async function startServer(t: Test, respond: RequestListener) {
  const queries: URLSearchParams[] = []
  const { port } = await serve(t, (request, response) => {
    void text(request).then((body) => {
      if (body.startsWith('DESCRIBE')) return response.end()
      queries.push(new URL(request.url ?? '', 'http://x').searchParams)
      return respond(request, response)
    })
  })
  return { url: `http://u:p,w@127.0.0.1:${port}`, queries }
}

const stores: RequestListener = (_, response) => {
  response.setHeader('x-clickhouse-summary', '{"written_rows":"1"}')
  response.end()
}
const fails =
  (code: number): RequestListener =>
  (_, response) => {
    response.writeHead(500, { 'x-clickhouse-exception-code': String(code) })
    response.end(`Code: ${code}.`)
  }
const silent: RequestListener = () => {}

const connect = (t: Test, urls: string[], options: object = {}) =>
  openClickHouse(t, { url: urls.join(','), requestTimeoutMs: 60_000, ...options })
const insert = (clickhouse: ReturnType<typeof connect>) =>
  clickhouse.insertRows({ table: 'logs', members: [member([logRow()])], rows: 1 })

t.test('an endpoint that refuses connections is left, and left alone', async (t) => {
  const [away, up] = ['http://u:p@127.0.0.1:1', await startServer(t, stores)]
  const clickhouse = connect(t, [away, up.url])
  await insert(clickhouse)
  await insert(clickhouse)
  t.equal(up.queries.length, 2)
})

t.test('an endpoint that cannot write is left, and not asked again at once', async (t) => {
  const [full, up] = [await startServer(t, fails(243)), await startServer(t, stores)]
  const clickhouse = connect(t, [full.url, up.url])
  await insert(clickhouse)
  await insert(clickhouse)
  t.same([full.queries.length, up.queries.length], [1, 2])
})

t.test('an error of the rows or the schema is not tried elsewhere', async (t) => {
  const [refusing, other] = [await startServer(t, fails(117)), await startServer(t, stores)]
  const error = await failureOf(insert(connect(t, [refusing.url, other.url])))
  t.equal(error.code, 117)
  t.equal(other.queries.length, 0)
})

t.test('when none is left, the error is that of the last', async (t) => {
  const [first, second] = [await startServer(t, fails(243)), await startServer(t, fails(242))]
  t.equal((await failureOf(insert(connect(t, [first.url, second.url])))).code, 242)
  t.equal((await failureOf(insert(connect(t, [first.url, second.url])))).code, 242)
})

t.test('an insert without a response is killed, and goes elsewhere next', async (t) => {
  const [mute, up] = [await startServer(t, silent), await startServer(t, stores)]
  const clickhouse = connect(t, [mute.url, up.url], { requestTimeoutMs: 1_000 })
  await failureOf(insert(clickhouse))
  const [sent, kill] = mute.queries
  t.equal(kill?.get('param_queryId'), sent?.get('query_id'))
  t.equal(up.queries.length, 0)
  await insert(clickhouse)
  t.equal(up.queries.length, 1)
})

t.test('a quorum and the settings of a cluster are sent only when they are set', async (t) => {
  const up = await startServer(t, stores)
  await insert(connect(t, [up.url]))
  await insert(connect(t, [up.url], { cluster: 'fleet', insertQuorum: 'auto', spread: true }))
  const of = (name: string) => up.queries.map((query) => query.get(name))
  t.same(of('insert_quorum'), [null, 'auto'])
  t.same(of('insert_quorum_timeout'), [null, '54000'])
  t.same(of('distributed_product_mode'), [null, 'global'])
  t.same(of('distributed_ddl_task_timeout'), [null, '54'])
  t.same(of('distributed_foreground_insert'), ['1', '1'])
  t.same(of('insert_deduplicate'), ['0', '0'])
  t.same(of('async_insert'), ['0', '0'])
  t.same(of('wait_end_of_query'), ['1', '1'])
})
