import { createPolicyStore, type StoredPolicy } from '@intake/access'
import { kinds } from '@intake/contract'
import { readPeriods, type Periods, type Services } from '@intake/records'
import { confirmChange } from '../confirm-change.ts'

/** The days of each application; under undefined those of all. */
type PeriodOf = Map<string | undefined, number | undefined>

/** Compares the policy in Redis, which gateways follow, with the retention in ClickHouse. */
export const findDifferences = (policy: StoredPolicy, periods: Periods) =>
  kinds.flatMap((kind) => {
    const valid: PeriodOf = new Map([[undefined, periods.general[kind]]])
    for (const one of periods.applications) {
      if (one.kind === kind) valid.set(one.bundleIdentifier, one.days)
    }
    const { days: general, applications } = policy.retention[kind]
    const known: PeriodOf = new Map([[undefined, general]])
    for (const [bundle, { days }] of applications) known.set(bundle, days)
    return [...new Set([...valid.keys(), ...known.keys()])]
      .filter((bundle) => known.get(bundle) !== valid.get(bundle))
      .map((bundle) => ({ kind, bundle, days: valid.get(bundle) }))
  })

/** Corrects the policy in Redis. Resolves to whether something had to be corrected. */
export async function correctPolicy({
  clickhouse,
  redis,
}: Pick<Services, 'clickhouse' | 'redis'>): Promise<boolean> {
  const store = createPolicyStore({ redis })
  const policy = await store.load()
  const differences =
    policy === undefined ? [] : findDifferences(policy, await readPeriods(clickhouse))
  // Also confirms a policy that needs no change, because an earlier attempt may have changed it
  // without a confirmation.
  await confirmChange(redis, async () => {
    for (const { kind, days, bundle } of differences) await store.setRetention(kind, days, bundle)
  })
  return differences.length > 0
}
