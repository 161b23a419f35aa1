import { deleteDeadLetters, dropMonths, readRetention } from '@intake/clickhouse'
import { kinds, limits } from '@intake/contract'
import { createPolicyStore } from '@intake/policy'
import { removeObjects } from '../erasure/remove-objects.ts'
import type { Services } from '../services.ts'
import { untilGatewaysKnow } from '../until-gateways-know.ts'

export interface RetentionReport {
  /** Dropped months, `YYYYMM`. */
  logs: string[]
  feedback: string[]
  deadLetters: number
  objects: number
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * Drops what is older than its retention. Gateways know the retention before anything is dropped.
 *
 * @param options.now for the age of records
 */
export async function applyRetention(
  { clickhouse, redis, objects }: Services,
  options: { now?: Date; progress?: (sentence: string) => void } = {},
): Promise<RetentionReport> {
  const { now = new Date(), progress = () => {} } = options
  const retention = await readRetention(clickhouse)
  const policy = createPolicyStore({ redis })
  const known = await policy.load()
  const unknown = kinds.filter((kind) => known?.retentionDays[kind] !== retention[kind])
  for (const kind of unknown) await policy.setRetention(kind, retention[kind])
  if (unknown.length > 0) await untilGatewaysKnow(progress)

  const report: RetentionReport = { logs: [], feedback: [], deadLetters: 0, objects: 0 }
  const before = (days: number) => new Date(now.getTime() - days * dayMs)
  for (const kind of kinds) {
    const days = retention[kind]
    if (days === undefined) continue
    await policy.noteDropped(kind, monthOf(before(days)))
    report[kind] = await dropMonths(clickhouse, kind, before(days))
  }
  if (retention.feedback !== undefined) {
    // All expired months, because an earlier run may have ended between the rows and their objects.
    for (const month of monthsBefore(before(retention.feedback))) {
      report.objects += await removeObjects(objects, `feedback/${month}/`)
    }
  }
  const days = retention['dead-letters']
  if (days !== undefined) report.deadLetters = await deleteDeadLetters(clickhouse, before(days))
  return report
}

/** The beginning of its month. */
const monthOf = (time: Date) => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()))

/** The months (`YYYY/MM`) that end before a time, from the first that a record can have. */
function* monthsBefore(time: Date): Generator<string> {
  const { after } = limits.recordTimeMs
  for (let month = new Date(after); ;) {
    const next = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1))
    if (next > time) return
    yield month.toISOString().slice(0, 7).replace('-', '/')
    month = next
  }
}
