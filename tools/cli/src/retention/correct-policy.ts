import { createPolicyStore, type StoredPolicy } from '@intake/access'
import { kinds, type RecordKind } from '@intake/contract'
import { readPeriods, type Periods, type Services } from '@intake/records'
import { confirmChange } from '../confirm-change.ts'

/** A retention period that gateways do not know as ClickHouse has it. */
interface Difference {
  kind: RecordKind
  bundleIdentifier: string | undefined
  days: number | undefined
}

/** Compares the policy in Redis, which gateways follow, with the retention in ClickHouse. */
export const findDifferences = (policy: StoredPolicy, periods: Periods): Difference[] =>
  kinds.flatMap((kind) => {
    const general = periods.general[kind]
    const isSame = policy.retentionDays[kind] === general
    const own = new Map<string, number>()
    for (const one of periods.applications) {
      if (one.kind === kind) own.set(one.bundleIdentifier, one.days)
    }
    const known = policy.applicationRetention[kind]
    return [
      ...(isSame ? [] : [{ kind, bundleIdentifier: undefined, days: general }]),
      ...[...new Set([...own.keys(), ...known.keys()])]
        .filter((bundle) => known.get(bundle)?.days !== own.get(bundle))
        .map((bundleIdentifier) => ({ kind, bundleIdentifier, days: own.get(bundleIdentifier) })),
    ]
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
    for (const { kind, days, bundleIdentifier } of differences) {
      await store.setRetention(kind, days, bundleIdentifier)
    }
  })
  return differences.length > 0
}
