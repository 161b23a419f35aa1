import t from 'tap'
import type { AttemptOutcome, Submission } from './history.ts'
import type { Row } from './row.ts'
import { judge } from './judge.ts'

const id = '019acaaa-0000-7000-8000-000000000001'
const otherId = '019acaaa-0000-7000-8000-000000000002'
const row: Row = {
  id,
  time: '2025-11-28T13:32:10.112Z',
  received_at: '2025-11-28T13:32:11.000Z',
  device_uuid: 'd',
  text: 'r1',
  attachments: [],
}

function submission(outcomes: AttemptOutcome[], more: Partial<Submission> = {}): Submission {
  return {
    kind: 'logs',
    device: 'd',
    content: 'r1',
    clientId: undefined,
    key: undefined,
    outcomes,
    acknowledgedIds: new Set(outcomes.includes('created') ? [id] : []),
    ...more,
  }
}

/** The rules that a run with this outcome breaks. */
function broken(end: { submissions?: Submission[]; visible?: Row[] }): string[] {
  const { submissions = [submission(['created'])], visible = [row] } = end
  const violations = judge({
    submissions,
    visible,
    objects: { has: () => true },
    jobs: [],
    early: [],
  })
  return violations.map(({ rule }) => rule)
}

t.test('a correct run breaks no rule', async (t) => {
  t.same(broken({}), [])
  t.same(broken({ submissions: [submission(['unknown'])] }), [], 'unknown, and stored')
  t.same(broken({ submissions: [submission(['unknown'])], visible: [] }), [], 'unknown, and not')
  t.same(broken({ submissions: [submission(['refused'])], visible: [] }), [])
  t.same(broken({ submissions: [submission(['refused', 'created'])] }), [])
})

// The planted bugs show that the other rules are found.
t.test('duplicates, phantoms and altered rows are found', async (t) => {
  t.same(broken({ visible: [row, row] }), ['duplicate'])
  t.same(broken({ submissions: [], visible: [row] }), ['phantom'])
  for (const altered of [
    { ...row, time: '2025-11-28T13:32:11.000Z' },
    { ...row, id: otherId },
    { ...row, device_uuid: 'e' },
    { ...row, attachments: [{ key: 'image' }] },
  ]) {
    t.same(broken({ visible: [altered] }), ['altered'])
  }
})

t.test('the same id of two devices is two records', async (t) => {
  const other = submission(['created'], { device: 'e', content: 'r2' })
  const visible = [row, { ...row, device_uuid: 'e', text: 'r2' }]
  t.same(broken({ submissions: [submission(['created']), other], visible }), [])
})

t.test('two submissions under one key are one record', async (t) => {
  const submissions = [
    submission(['created'], { key: 'k' }),
    submission(['created'], { key: 'k', content: 'r2', acknowledgedIds: new Set([otherId]) }),
  ]
  t.same(broken({ submissions, visible: [row, { ...row, id: otherId, text: 'r2' }] }), ['split'])
})
