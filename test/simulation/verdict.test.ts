import t from 'tap'
import type { AttemptOutcome, Submission } from './history.ts'
import type { Row } from './row.ts'
import { judge } from './verdict.ts'

const row: Row = { id: '7.1', receivedAt: 7, content: 'r1', image: undefined }

function submission(outcomes: AttemptOutcome[], more: Partial<Submission> = {}): Submission {
  const acknowledgedIds = new Set(outcomes.includes('created') ? [row.id] : [])
  return { content: 'r1', key: undefined, hasImage: false, outcomes, acknowledgedIds, ...more }
}

/** The rules that a run with this outcome breaks. */
function broken(end: {
  submissions?: Submission[]
  visible?: Row[]
  images?: string[]
  jobs?: Partial<Record<'waiting' | 'active' | 'failed', number>>
}): string[] {
  const { submissions = [submission(['created'])], visible = [row], images = [], jobs = {} } = end
  const violations = judge({
    submissions,
    visible,
    objects: { has: (id) => images.includes(id) },
    jobs: { count: (state) => jobs[state] ?? 0 },
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

t.test('each rule detects its violation', async (t) => {
  t.same(broken({ visible: [] }), ['lost'])
  t.same(broken({ visible: [row, row] }), ['duplicate'])
  t.same(broken({ visible: [row, { ...row, id: '7.2' }] }), ['split'])
  t.same(broken({ submissions: [], visible: [row] }), ['phantom'])
  t.same(broken({ submissions: [submission(['refused', 'refused'])] }), ['refused but stored'])
  t.same(broken({ jobs: { failed: 1 } }), ['job failed'])
  t.same(broken({ jobs: { active: 1 } }), ['stuck'])
})

t.test('a row is altered if its time, id or image differs', async (t) => {
  t.same(broken({ visible: [{ ...row, receivedAt: 8 }] }), ['altered'])
  t.same(broken({ visible: [{ ...row, id: '7.2' }] }), ['altered'])
  t.same(broken({ visible: [{ ...row, image: '7.1' }], images: ['7.1'] }), ['altered'])
})

t.test('an image that the row names must be there', async (t) => {
  const submissions = [submission(['created'], { hasImage: true })]
  const visible = [{ ...row, image: '7.1' }]
  t.same(broken({ submissions, visible, images: ['7.1'] }), [])
  t.same(broken({ submissions, visible }), ['image lost'])
})

t.test('two submissions under one key are one record', async (t) => {
  const submissions = [
    submission(['created'], { key: 'k' }),
    submission(['created'], { key: 'k', content: 'r2', acknowledgedIds: new Set(['7.2']) }),
  ]
  t.same(broken({ submissions, visible: [row, { ...row, id: '7.2', content: 'r2' }] }), ['split'])
})
