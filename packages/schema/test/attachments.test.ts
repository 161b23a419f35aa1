import t from 'tap'
import { feedbackRow, member, startServer } from './fixture.ts'

const { connect } = await startServer(t)
const clickhouse = connect(t)

const picture = (key: string) => ({ key, content_type: 'image/png', bytes: 9, sha256: '00' })

t.test('attachment_count is the number of attachments, in both views', async (t) => {
  const attachments = [['a', 'b'], [], ['c']].map((keys) => keys.map(picture))
  const rows = attachments.map((list) => feedbackRow({ attachments: list }))
  await clickhouse.insertRows({ table: 'feedback', members: [member(rows)], rows: rows.length })
  for (const [view, count] of [
    ['feedback', 'length(attachments)'],
    ['feedback_flat', 'JSONLength(attachments)'],
  ]) {
    const found = await clickhouse.query<{ counted: number; n: number }>(
      `SELECT attachment_count AS counted, ${count} AS n FROM intake.${view} ORDER BY n`,
    )
    t.same(
      found,
      [0, 1, 2].map((n) => ({ counted: n, n })),
    )
  }
})

// The facts about a picture, such as its size, are in another table. To look them up for all rows
// would make it five times as expensive to read the newest 50 of 200,000 feedback with pictures.
t.test('facts are looked up only for the rows that are shown', async (t) => {
  const stepsOf = async (condition: string) => {
    const plan = await clickhouse.query<{ explain: string }>(
      `EXPLAIN SELECT id, attachments FROM intake.feedback WHERE ${condition}
       ORDER BY time DESC LIMIT 50`,
    )
    return plan.map(({ explain }) => explain.trim().replace(/^[│└├─ ]+/, ''))
  }
  const joinsAfterLimit = (steps: string[]) => {
    const join = steps.findIndex((step) => step.startsWith('Join'))
    return steps.slice(join).some((step) => step.startsWith('Limit'))
  }
  t.ok(joinsAfterLimit(await stepsOf('attachment_count > 0')))
  t.notOk(joinsAfterLimit(await stepsOf('length(attachments) > 0')), 'the reason for the column')
})
