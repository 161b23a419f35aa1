import { parseIdentity } from '@intake/identity'
import type { Submission } from './history.ts'
import type { Job, Jobs } from './jobs.ts'
import type { ObjectStore } from './object-store.ts'
import type { Row } from './row.ts'

export type Rule =
  /** Acknowledged, but not visible. */
  | 'lost'
  /** An id of one device that is visible twice. */
  | 'duplicate'
  /** A submission, or a key, that is visible under two ids. */
  | 'split'
  /** Visible, but never sent. */
  | 'phantom'
  /** Visible, although every attempt was refused. */
  | 'refused but stored'
  /** Visible, but different from what was accepted. */
  | 'altered'
  /** Visible without its image. */
  | 'image lost'
  /**
   * An acknowledged record was not visible yet, although it arrived, or was acknowledged, before
   * the watermark.
   */
  | 'early'
  /** A job was still in the queue after the faults had stopped. */
  | 'stuck'

export interface Violation {
  rule: Rule
  what: string
}

/**
 * Finds the guarantees that a run broke. Called at the end of the run, when the queues should be
 * empty.
 */
export function judge(options: {
  submissions: readonly Submission[]
  visible: readonly Row[]
  objects: Pick<ObjectStore, 'has'>
  jobs: readonly Pick<Jobs, 'count'>[]
  /** The result of `early()` of `Watermark`. */
  early: readonly string[]
}): Violation[] {
  const { submissions, visible, objects } = options
  const violations: Violation[] = []
  const broken = (rule: Rule, what: string) => void violations.push({ rule, what })

  const rowsOf = groupBy(visible, ({ text }) => text)
  const idsOfKey = new Map<string, Set<string>>()

  for (const submission of submissions) {
    const { content, outcomes, acknowledgedIds, kind } = submission
    const rows = rowsOf.get(content) ?? []
    const ids = new Set(rows.map(({ id }) => id))
    if (outcomes.includes('created') && rows.length === 0) broken('lost', content)
    if (outcomes.every((one) => one === 'refused') && rows.length > 0) {
      broken('refused but stored', content)
    }
    if (ids.size > 1) broken('split', `${content} is ${[...ids].join(' and ')}`)
    const isOtherwiseNamed = [...acknowledgedIds].some((id) => !ids.has(id))
    if (ids.size > 0 && isOtherwiseNamed) broken('altered', `the id of ${content}`)
    const isWrong = (row: Row) =>
      row.attachments.length !== (kind === 'feedback' ? 1 : 0) ||
      row.device_uuid !== submission.device
    if (rows.some(isWrong)) broken('altered', content)
    if (rows.some((row) => row.attachments.some(({ key }) => !objects.has(key)))) {
      broken('image lost', content)
    }
    const key = keyOf(submission)
    if (key !== undefined) idsOfKey.set(key, new Set([...(idsOfKey.get(key) ?? []), ...ids]))
  }

  for (const [key, ids] of idsOfKey) {
    if (ids.size > 1) broken('split', `${key} is ${[...ids].join(' and ')}`)
  }
  for (const [identity, rows] of groupBy(visible, (row) => `${row.device_uuid} ${row.id}`)) {
    if (rows.length > 1) broken('duplicate', `${identity} is visible ${rows.length} times`)
    if (rows.some(({ id, time }) => time !== parseIdentity(id).time)) broken('altered', identity)
  }
  for (const record of options.early) broken('early', record)
  const sent = new Set(submissions.map(({ content }) => content))
  for (const content of rowsOf.keys()) if (!sent.has(content)) broken('phantom', content)
  const count = (state: Job['state']) =>
    options.jobs.reduce((sum, jobs) => sum + jobs.count(state), 0)
  const left = count('waiting') + count('active') + count('delayed')
  if (left > 0) broken('stuck', `${left} jobs`)
  return violations
}

/**
 * Returns a text that is the same for all attempts that must become one record; undefined for an
 * attempt that has neither a key nor an id.
 */
function keyOf({ kind, device, clientId, key }: Submission): string | undefined {
  const name = key ?? clientId
  return name === undefined ? undefined : `${kind} ${device} ${name}`
}

function groupBy<Item>(items: readonly Item[], name: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(name(item))
    if (group) group.push(item)
    else groups.set(name(item), [item])
  }
  return groups
}
