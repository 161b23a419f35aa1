import { setTimeout as pause } from 'node:timers/promises'
import { createPolicyStore, type RuleChoice } from '@intake/access'
import { until } from '@intake/test-kit/until'
import type { Payload } from '../kit/payload.ts'
import { holdResponsesOfInserts } from '../kit/rows.ts'
import type { Scenario, Stage } from '../scenario.ts'

const eventOf = ({ body }: Payload) => {
  const { log, logs } = body as { log?: { event: string }; logs?: { event: string }[] }
  return (log ?? logs?.[0])?.event
}

const choices: RuleChoice[] = [
  { action: 'drop', match: { event: 'event_3' } },
  { action: 'sample', rate: 0.5, match: { event: 'event_4' } },
  { action: 'drop', match: { eventPrefix: 'event_5', bundle: 'com.example.app1' } },
  { action: 'remove', path: 'extra.nobody', match: {} },
]

/** Adds and removes rules all the time, until the returned function is called. */
function changeRules({ cluster, later }: Stage): () => Promise<void> {
  const policy = createPolicyStore({ redis: cluster.keys })
  const ending = new AbortController()
  async function change(): Promise<void> {
    const active: string[] = []
    for (let turn = 0; !ending.signal.aborted; turn++) {
      const rule = await policy.addRule(choices[turn % choices.length]!, 'faults')
      active.push(rule!.id)
      if (active.length === choices.length) await policy.removeRule(active.shift()!)
      await pause(700, undefined, { signal: ending.signal }).catch(() => undefined)
    }
  }
  const changing = change()
  const end = () => {
    ending.abort()
    return changing
  }
  later(end)
  return end
}

const leftOut = async ({ cluster }: Stage) => {
  const matches = cluster.gateways.map(async (gateway) => {
    const metrics = await (await fetch(`${gateway.adminUrl()}/metrics`)).text()
    const counts = metrics.matchAll(
      /^intake_rule_matches_total\{.*action="(drop|sample)"\} (\d+)$/gm,
    )
    return [...counts].reduce((sum, [, , count]) => sum + Number(count), 0)
  })
  return Math.min(...(await Promise.all(matches)))
}

const mayBeLeftOut = (record: Payload) => /^event_[345]$/.test(eventOf(record) ?? '')

export const ruleScenarios: Scenario[] = [
  {
    id: 'F80',
    title:
      'rules changed under load on two gateways, a worker killed after its insert, Redis killed',
    cluster: { gateways: 2 },
    mayBeLeftOut,
    async run(stage) {
      const { cluster } = stage
      const endChanges = changeRules(stage)
      await until('both gateways leave records out', async () => (await leftOut(stage)) > 20)
      await holdResponsesOfInserts(cluster)
      await cluster.workers[0]!.kill()
      cluster.network.workerToClickHouse.set()
      await cluster.addWorker()
      await stage.acknowledged(200)
      await endChanges()
      const policy = createPolicyStore({ redis: cluster.keys })
      const before = await policy.load()
      await cluster.redis.kill()
      await cluster.redis.start()
      await stage.acknowledged(300)
      const kept = await until('the rules are read again', () =>
        policy.load().catch(() => undefined),
      )
      stage.expect(kept.rules.length === before?.rules.length, 'rules are kept through the restart')
    },
  },
]
