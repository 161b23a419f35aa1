import type { ClickHouse } from '@intake/clickhouse'
import type { Event } from '../faults/kit/history.ts'

export interface Counts {
  acknowledged: number
  visible: number
  /** The number of acknowledged records that are not visible. */
  lost: number
  /** The number of records that are visible under more than one id. */
  doubled: number
  /** The number of attempts with `outcome_unknown` or without a response. */
  unknown: number
  refused: number
}

export interface RunResult {
  counts: Counts
  /** Violations of those guarantees that hold with every setting of Redis and the gateway. */
  violations: string[]
}

/**
 * Compares the responses of a run with the visible rows.
 *
 * @param range the values of `seq` in the rows of this run, from `from` to below `to`
 */
export async function countRun(options: {
  sql: ClickHouse
  events: readonly Event[]
  range: { from: number; to: number }
}): Promise<RunResult> {
  const { sql, events, range } = options
  const records = (view: string) =>
    `SELECT toString(id) AS id, device_extra.seq::Int64 AS seq FROM intake.${view}`
  const rows = await sql.query<{ id: string; seq: number }>(
    `SELECT id, seq FROM (${records('logs')} UNION ALL ${records('feedback')})
     WHERE seq >= ${range.from} AND seq < ${range.to}`,
  )
  const visible = new Map<number, Set<string>>()
  for (const { id, seq } of rows) {
    const number = seq - range.from
    visible.set(number, (visible.get(number) ?? new Set()).add(id))
  }
  const acknowledged = new Map<number, string>()
  const maybe = new Set<number>()
  const statuses = new Map<string, number>()
  for (const event of events) {
    if (event.is === 'acknowledged') acknowledged.set(event.seq, event.id)
    if (event.is === 'unknown') maybe.add(event.seq)
    if (event.is === 'refused' && event.status !== 503 && event.status !== 0) {
      const what = `response ${event.status} ${event.code}`
      statuses.set(what, (statuses.get(what) ?? 0) + 1)
    }
  }
  const lost = [...acknowledged].filter(([seq, id]) => !visible.get(seq)?.has(id))
  const doubled = [...visible.values()].filter((ids) => ids.size > 1)
  const unexpected = [...visible.keys()].filter((seq) => !acknowledged.has(seq) && !maybe.has(seq))
  const number = (is: Event['is']) => events.filter((event) => event.is === is).length
  return {
    counts: {
      acknowledged: acknowledged.size,
      visible: visible.size,
      lost: lost.length,
      doubled: doubled.length,
      unknown: number('unknown'),
      refused: number('refused'),
    },
    violations: [
      ...[...statuses].map(([what, count]) => `${what} (${count})`),
      ...(unexpected.length > 0 ? [`${unexpected.length} refused, but visible`] : []),
    ],
  }
}
