import { loadavg } from 'node:os'
import { check } from '../faults/kit/checker.ts'
import { createCpuWait } from '@intake/test-kit/cpu-wait'
import { until } from '@intake/test-kit/until'
import type { AppProcess } from '@intake/test-kit/app-process'
import { watchGateway } from './gateway-watch.ts'
import type { HostileCase } from './hostile-case.ts'
import { startInnocent, type Innocent } from './innocent.ts'
import type { Result, Seen } from './result.ts'
import type { Stage } from './stage.ts'
import { startAttackProcess } from './attack-process.ts'
import { judge } from './judge.ts'
import { watchVisibility } from './visibility.ts'

export interface RunOptions {
  stage: Stage
  /** Number of the case in the run; unique. */
  run: number
  /** The duration of the attack. Default: that of the case. */
  attackMs?: number
  /**
   * Number of records that the innocent sender sends after the attack, 20 a second. Half of this
   * number is sent before the attack.
   */
  records: number
  /** The time for which the services waited for a CPU does not count. */
  slowestMsMax: number
}

const attackMsDefault = 10_000
/** How many connections the innocent sender and the services may open during the attack. */
const descriptorsSpare = 8
const exitMsMax = 15_000

/** Runs one case with its own gateway. Rejects if the stage has become unusable. */
export async function runCase(hostile: HostileCase, options: RunOptions): Promise<Result> {
  const started = performance.now()
  const seen = await play(hostile, options)
  const reasons = judge(hostile, seen, options)
  const ms = Math.round(performance.now() - started)
  return { id: hostile.id, title: hostile.title, reasons, seen, ms }
}

async function play(hostile: HostileCase, options: RunOptions): Promise<Seen> {
  const { stage, run, records } = options
  const attackMs = options.attackMs ?? hostile.attackMs ?? attackMsDefault
  const { attackerKey, dir, root, cluster } = stage
  const { apiKey } = cluster
  const attacker = startAttackProcess()
  const app = await cluster
    .addGateway({ env: hostile.gatewayEnv ?? {} })
    .catch(async (error: unknown) => {
      await attacker.end()
      throw error
    })
  const url = cluster.gatewayUrls.at(-1)!
  const port = Number(new URL(url).port)
  const watch = watchGateway(app.pid())
  const pids = () => [process.pid, cluster.redis.pid(), app.pid()]
  const cpuWaitMs = createCpuWait(pids)
  const innocent = startInnocent({ url, apiKey, dir, root, run, cpuWaitMs })
  try {
    // The first requests of a process are slow, even without an attack. So they are not observed.
    await innocent.issued(10)
    const beforeEnds = innocent.observe()
    await innocent.issued(records / 2)
    const before = beforeEnds()
    const descriptorsMax = watch.descriptors() + descriptorsSpare
    const cpuBefore = watch.cpuMs()
    const waitBefore = watch.waitMs()
    const attackStarted = performance.now()

    const duringEnds = innocent.observe()
    const isVisibilityJudged = hostile.visibleMsMax !== undefined
    const visibilityEnds = isVisibilityJudged && watchVisibility({ url, apiKey, sql: cluster.sql })
    if (hostile.whileClickHouseIsFrozen) cluster.clickhouse.freeze()
    const order = { caseId: hostile.id, attackMs, port, apiKey: attackerKey }
    const outcome = await Promise.race([attacker.attack(order), death(app)])
    const attackTookMs = performance.now() - attackStarted
    if (hostile.whileClickHouseIsFrozen) cluster.clickhouse.thaw()
    const cpuShare = (watch.cpuMs() - cpuBefore) / attackTookMs
    const waitShare = (watch.waitMs() - waitBefore) / attackTookMs
    const connectionsEndMs = await connectionsEnd()
    if (app.running()) await innocent.issued(records)
    await innocent.stop()
    const during = duringEnds()
    const visibleMs = visibilityEnds && (await visibilityEnds())

    const died = !app.running()
    const exit = died ? { code: null, ms: 0 } : await terminate(app)
    await attacker.end()
    const violations = await violationsOf(stage, innocent)
    return {
      before,
      during,
      attack: outcome,
      facts: 'facts' in outcome ? outcome.facts : undefined,
      peakMiB: watch.peakMiB(),
      cpuShare: Math.round(cpuShare * 100) / 100,
      waitShare: Math.round(waitShare * 100) / 100,
      load: Math.round(loadavg()[0]! * 10) / 10,
      connectionsEndMs,
      ...(visibleMs !== false && { visibleMs }),
      died,
      exitCode: exit.code,
      exitMs: exit.ms,
      violations,
    }

    async function connectionsEnd(): Promise<number | null> {
      const limitMs = hostile.connectionsEndMs
      if (limitMs === undefined || options.attackMs !== undefined) return null
      const sinceMs = () => performance.now() - attackStarted
      const gone = () => !app.running() || watch.descriptors() <= descriptorsMax
      const stallMs = Math.max(0, limitMs - sinceMs())
      return until('the connections are gone', gone, { stallMs, everyMs: 200 }).then(
        () => Math.round(sinceMs()),
        () => null,
      )
    }
  } finally {
    cluster.clickhouse.thaw()
    watch.stop()
    await attacker.end()
    await innocent.stop()
    await app.kill()
  }
}

/** Checks the innocent sender's records against its responses. Retries twice if `check` throws. */
async function violationsOf({ cluster }: Stage, innocent: Innocent): Promise<string[]> {
  const { events, payload, where } = innocent
  for (let attempt = 1; ; attempt++) {
    try {
      const { violations } = await check({ cluster, events, payload, where })
      return violations
    } catch (error) {
      if (attempt === 3) return [`the visible rows cannot be read: ${(error as Error).message}`]
    }
  }
}

/** Resolves when the process has exited unexpectedly. */
async function death(app: AppProcess): Promise<{ failed: string }> {
  await until('the gateway is gone', () => !app.running(), { stallMs: 300_000, everyMs: 100 })
  return { failed: 'the gateway died' }
}

async function terminate(app: AppProcess): Promise<{ code: number | null; ms: number }> {
  const started = performance.now()
  const timer = setTimeout(() => void app.kill(), exitMsMax)
  const code = await app.terminate()
  clearTimeout(timer)
  return { code, ms: Math.round(performance.now() - started) }
}
