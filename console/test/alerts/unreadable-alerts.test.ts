import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { createAlertRun } from '../../src/alerts/alerts.ts'

t.test('an alert of a later version keeps its state; one that is gone does not', async (t) => {
  const inserted: object[] = []
  const time = '2026-11-29 00:00:00.000'
  const change = { change: 3, is_message: 0 }
  const times = { since: time, evaluated_at: time }
  const run = createAlertRun({
    alerts: { list: async () => ({ alerts: [], unreadable: ['alert_later'] }) },
    reader: {
      query: async <Row>() =>
        ['alert_later', 'alert_gone'].map((id) => ({ ...change, ...times, id })) as Row[],
    },
    store: {
      async insertRows({ members: [rows] }) {
        const lines = gunzipSync(rows!).toString().trim()
        inserted.push(...lines.split('\n').map((line) => JSON.parse(line) as object))
      },
    },
    sink: { add: async () => 0 },
    situation: async () => ({ nowMs: Date.now(), visibleUntilMs: undefined, refusedKeys: [] }),
    onError: (error) => t.fail(String(error)),
  })
  await run()
  t.match(inserted, [{ id: 'alert_gone', is_removed: 1 }])
  t.equal(inserted.length, 1)
})
