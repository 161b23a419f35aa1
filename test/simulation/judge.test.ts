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
const withImage: Row = { ...row, attachments: [{ key: 'image' }] }

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
function broken(end: {
  submissions?: Submission[]
  visible?: Row[]
  images?: string[]
  early?: string[]
  jobs?: Partial<Record<'waiting' | 'active' | 'delayed', number>>
}): string[] {
  const { submissions = [submission(['created'])], visible = [row], images = [], jobs = {} } = end
  const { early = [] } = end
  const violations = judge({
    submissions,
    visible,
    objects: { has: (key) => images.includes(key) },
    jobs: [{ count: (state) => jobs[state] ?? 0 }],
    early,
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
  t.same(broken({ visible: [row, { ...row, id: otherId }] }), ['split'])
  t.same(broken({ submissions: [], visible: [row] }), ['phantom'])
  t.same(broken({ submissions: [submission(['refused', 'refused'])] }), ['refused but stored'])
  t.same(broken({ early: [id] }), ['early'])
  for (const state of ['waiting', 'active', 'delayed']) {
    t.same(broken({ jobs: { [state]: 1 } }), ['stuck'])
  }
})

t.test('a row is altered if its time, id, device or image differs', async (t) => {
  t.same(broken({ visible: [{ ...row, time: '2025-11-28T13:32:11.000Z' }] }), ['altered'])
  t.same(broken({ visible: [{ ...row, id: otherId }] }), ['altered'])
  t.same(broken({ visible: [{ ...row, device_uuid: 'e' }] }), ['altered'])
  t.same(broken({ visible: [withImage], images: ['image'] }), ['altered'])
})

t.test('the same id of two devices is two records', async (t) => {
  const other = submission(['created'], { device: 'e', content: 'r2' })
  const visible = [row, { ...row, device_uuid: 'e', text: 'r2' }]
  t.same(broken({ submissions: [submission(['created']), other], visible }), [])
})

t.test('an image that the row names must be there', async (t) => {
  const submissions = [submission(['created'], { kind: 'feedback' })]
  t.same(broken({ submissions, visible: [withImage], images: ['image'] }), [])
  t.same(broken({ submissions, visible: [withImage] }), ['image lost'])
})

t.test('two submissions under one key are one record', async (t) => {
  const submissions = [
    submission(['created'], { key: 'k' }),
    submission(['created'], { key: 'k', content: 'r2', acknowledgedIds: new Set([otherId]) }),
  ]
  t.same(broken({ submissions, visible: [row, { ...row, id: otherId, text: 'r2' }] }), ['split'])
})
