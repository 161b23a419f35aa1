import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import { logTo } from '@intake/test-kit/log-to'
import { until } from '@intake/test-kit/until'
import { startStoredStateMonitor } from '../src/index.ts'

t.test('while ClickHouse does not respond the last watermarks are kept', async (t) => {
  const row = { kind: 'logs', letters: 0, until: '2026-11-27T12:00:00Z' }
  let readings = 0
  const failures: string[] = []
  const stored = startStoredStateMonitor({
    reader: {
      query: async <Row>() => {
        if (readings++ > 0) throw new Error('no response')
        return [row] as Row[]
      },
    },
    log: logTo((line) => failures.push(line), 'debug'),
    help: 'docs/operations/page-fails.md',
    intervalMs: 1,
  })
  t.teardown(() => stored.close())
  await until('a second reading failed', () => failures.length > 0)
  const laterMs = performance.now() + 60_000
  t.intercept(performance, 'now', { value: () => laterMs })
  t.equal(stored.state(), undefined, 'the state of a minute ago is not shown')
  t.same(stored.lastVisibleUntil(), { logs: row.until })
})

t.test(
  'dead letters are counted by kind, and an error lasts until a reading succeeds',
  async (t) => {
    const error = new ClickHouseError('no right', { kind: 'operator' })
    const warnings: string[] = []
    const visible = '2026-11-27T12:00:00Z'
    const rows = [
      { kind: 'logs', letters: 2, until: '' },
      { kind: 'feedback', letters: 1, until: '' },
      { kind: 'logs', letters: 0, until: visible },
    ]
    let read: () => unknown[] = () => {
      throw error
    }
    const stored = startStoredStateMonitor({
      reader: { query: async <Row>() => read() as Row[] },
      log: logTo((line) => warnings.push(line), 'warn'),
      help: 'docs/operations/page-fails.md',
      intervalMs: 1,
    })
    t.teardown(() => stored.close())
    await until('an operator is told', () => warnings.length > 0)
    t.equal(stored.error(), error)
    read = () => rows
    await until('a reading succeeded', () => stored.error() === undefined)
    const deadLetters = { logs: 2, feedback: 1 }
    t.same(stored.state(), { deadLetters, visibleUntil: { logs: visible } })
  },
)
