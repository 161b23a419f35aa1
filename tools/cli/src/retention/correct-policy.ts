import { createPolicyStore } from '@intake/access'
import { kinds } from '@intake/contract'
import { readApplicationPeriods, readRetention, type Services } from '@intake/records'
import { confirmChange } from '../confirm-change.ts'

/** A retention period that gateways do not know as ClickHouse has it. */
interface Difference {
  kind: (typeof kinds)[number]
  bundleIdentifier: string | undefined
  days: number | undefined
}

/** Compares the policy in Redis, which gateways follow, with the retention in ClickHouse. */
export async function findDifferences({
  clickhouse,
  redis,
}: Pick<Services, 'clickhouse' | 'redis'>): Promise<Difference[]> {
  const general = await readRetention(clickhouse)
  const periods = await readApplicationPeriods(clickhouse)
  const known = await createPolicyStore({ redis }).load()
  return kinds.flatMap((kind) => {
    const own = new Map(
      periods.flatMap((one) => (one.kind === kind ? [[one.bundleIdentifier, one.days]] : [])),
    )
    const ofGateways = known?.applicationRetention[kind] ?? new Map()
    const bundles = [...new Set([...own.keys(), ...ofGateways.keys()])]
    return [
      ...(known?.retentionDays[kind] === general[kind]
        ? []
        : [{ kind, bundleIdentifier: undefined, days: general[kind] }]),
      ...bundles
        .filter((bundle) => ofGateways.get(bundle)?.days !== own.get(bundle))
        .map((bundleIdentifier) => ({ kind, bundleIdentifier, days: own.get(bundleIdentifier) })),
    ]
  })
}

/** Corrects the policy in Redis. Resolves to whether something had to be corrected. */
export async function correctPolicy(
  services: Pick<Services, 'clickhouse' | 'redis'>,
): Promise<boolean> {
  const { redis } = services
  const policy = createPolicyStore({ redis })
  const differences = await findDifferences(services)
  // Also confirms a policy that needs no change, because an earlier attempt may have changed it
  // without a confirmation.
  await confirmChange(redis, async () => {
    for (const { kind, days, bundleIdentifier } of differences) {
      await policy.setRetention(kind, days, bundleIdentifier)
    }
  })
  return differences.length > 0
}
