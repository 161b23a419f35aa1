import type { Cluster } from './cluster.ts'
import type { Violations } from './violations.ts'

/**
 * Checks that each acknowledged record is stored, dropped or sampled out: acknowledged = stored +
 * dropped + sampled out. Compares the counts of outcomes with the responses and with the visible
 * rows. Call it when all counts have arrived, and only if no gateway was killed. The counts may
 * also contain attempts whose response was lost.
 *
 * @param options.leftOut the number of acknowledged records that are not visible
 */
export async function checkLeftOut(
  { sql }: Pick<Cluster, 'sql'>,
  options: {
    counts: { acknowledged: number; unknown: number }
    leftOut: number
    violations: Violations
  },
): Promise<void> {
  const { counts, leftOut, violations } = options
  const [counted = { accepted: 0, left_out: 0, unattributed: 0 }] = await sql.query<{
    accepted: number
    left_out: number
    unattributed: number
  }>(
    `SELECT sumIf(records, code = 'accepted') AS accepted,
       sumIf(records, code IN ('dropped', 'sampled')) AS left_out,
       sumIf(records, (code IN ('dropped', 'sampled')) != startsWith(rule, 'rule_')) AS unattributed
     FROM intake.outcomes WHERE code IN ('accepted', 'dropped', 'sampled')`,
  )
  const exceeds = (count: number, least: number) => count < least || count > least + counts.unknown
  const said = JSON.stringify({ ...counted, ...counts, leftOut })
  if (exceeds(counted.accepted + counted.left_out, counts.acknowledged)) {
    violations.add('the books do not balance', said)
  }
  if (exceeds(counted.left_out, leftOut)) violations.add('left out, but not counted', said)
  if (counted.unattributed > 0) violations.add('left out by no rule, or stored by one', said)
}
