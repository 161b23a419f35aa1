import t from 'tap'
import { until } from '@intake/test-kit/until'
import { startStoredStateMonitor } from '../../src/watch/stored-state.ts'

t.test('while ClickHouse does not respond the last watermarks are kept', async (t) => {
  const row = { kind: 'logs', letters: 0, until: '2026-11-27T12:00:00Z' }
  const stored = startStoredStateMonitor({
    reader: { query: async <Row>() => [row] as Row[] },
    onError: (error) => t.fail('read', { error }),
  })
  t.teardown(() => stored.close())
  await until('the tables are read', () => stored.state() !== undefined)
  // The next reading is due after ten seconds, but none succeeds for a minute.
  const laterMs = performance.now() + 60_000
  t.intercept(performance, 'now', { value: () => laterMs })
  t.equal(stored.state(), undefined, 'the state of a minute ago is not shown')
  t.same(stored.lastVisibleUntil(), { logs: row.until })
})
