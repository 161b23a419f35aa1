import t from 'tap'
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
