import { hash, randomUUID } from 'node:crypto'
import t from 'tap'
import type { QueryParams } from '@intake/clickhouse'
import { countExamples, eraseExamples } from '../src/erasure/erase-examples.ts'

/** ClickHouse's limit of a parameter. */
const bytesMax = 128 * 1_024

t.test('any number of stack traces is erased, a few in a statement', async (t) => {
  const changes = Array.from({ length: 1_201 }, () => `alert_0123456789ab ${randomUUID()}`)
  const examples = changes.map((change) => `${change} ${hash('sha256', change).toUpperCase()}`)
  const erased: string[] = []
  const checked = (params: QueryParams = {}, name: string) => {
    t.ok(JSON.stringify(params).length < bytesMax)
    return params[name] as string[]
  }
  const clickhouse = {
    cluster: undefined,
    async query<Row>(_sql: string, params?: QueryParams) {
      return [{ rows: checked(params, 'examples').length }] as Row[]
    },
    async command(_sql: string, params?: QueryParams) {
      erased.push(...checked(params, 'changes'))
    },
  }
  t.equal(await countExamples(clickhouse, examples), examples.length)
  await eraseExamples(clickhouse, examples)
  t.same(erased, changes)
  await eraseExamples(clickhouse, [])
  t.equal(erased.length, changes.length)
})
