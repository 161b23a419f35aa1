import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerDeadlinesMs, check, type Counts } from './kit/checker.ts'
import { startCluster } from './kit/cluster.ts'
import { createCpuWait } from '@intake/test-kit/cpu-wait'
import { openHistory } from './kit/history.ts'
import { createPayloads } from './kit/payload.ts'
import { startProducer } from './kit/producer.ts'
import { createRandom } from '@intake/test-kit/random'
import { until } from '@intake/test-kit/until'
import type { Scenario } from './scenario.ts'

export interface Result {
  id: string
  title: string
  status: 'passed' | 'failed' | 'skipped'
  /** The reasons why the scenario failed (also with a planted bug) or was skipped. */
  reasons: string[]
  counts: Counts | undefined
  ms: number
}

export interface RunOptions {
  /** Root of the built code. */
  root: string
  seed: number
  /** Changes to the cluster that plant a bug. With them, the scenario must fail. */
  planted?: Partial<Scenario['cluster']>
  /** Added to each limit on response times, because the disk of the machine may be busy. */
  slackMs?: number
  /** Keeps the data and logs of a failed scenario. */
  keep?: boolean
}

/** Runs one scenario on a cluster of its own. An error during the run is a failed result. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<Result> {
  const started = performance.now()
  const { id, title } = scenario
  const result = (status: Result['status'], reasons: string[], counts?: Counts): Result => {
    return { id, title, status, reasons, counts, ms: Math.round(performance.now() - started) }
  }
  const obstacle = await scenario.cannotRun?.()
  if (obstacle !== undefined) return result('skipped', [obstacle])

  const dir = mkdtempSync(join(tmpdir(), `intake-faults-${id}-`))
  let failed = true
  try {
    const { counts, violations } = await play(scenario, { ...options, dir })
    failed = violations.length > 0
    return result(failed ? 'failed' : 'passed', violations, counts)
  } catch (error) {
    return result('failed', [describe(error)])
  } finally {
    if (failed && options.keep) console.log(`  kept: ${dir}`)
    else await rm(dir, { recursive: true, force: true, maxRetries: 9 })
  }
}

async function play(scenario: Scenario, options: RunOptions & { dir: string }) {
  const { root, seed, planted, dir, slackMs = 0 } = options
  const { rate = 150, feedbackEvery = 25, keyedEvery = 4 } = scenario.load ?? {}
  const random = createRandom(seed)
  const payload = createPayloads({ feedbackEvery, keyedEvery, root })
  const broken: string[] = []
  const expect = (holds: boolean, sentence: string) =>
    void (holds || broken.push(`expected: ${sentence}`))
  const ends: (() => Promise<unknown>)[] = []
  let partialInserts = 0
  let keptFrames = 0

  const cluster = await startCluster({
    dataDir: dir,
    root,
    random,
    ...scenario.cluster,
    ...planted,
  })
  const history = openHistory(join(dir, 'history.jsonl'))
  const { apiKey, inRotation } = cluster
  const cpuWaitMs = createCpuWait(() => [
    process.pid,
    ...[cluster.redis, ...cluster.gateways].map((one) => one.pid()),
  ])
  const producer = startProducer({ urls: inRotation, apiKey, history, payload, rate, cpuWaitMs })
  try {
    await scenario.run({
      cluster,
      producer,
      history,
      payload,
      random,
      dir,
      root,
      async issued(more) {
        const wanted = producer.issued() + more
        const { issued, isBusy } = producer
        await until(`${more} more are issued`, () => issued() >= wanted || isBusy(), {
          progress: issued,
        })
      },
      async acknowledged(more) {
        const wanted = producer.counts().acknowledged + more
        const progress = () => producer.counts().acknowledged
        await until(`${more} more are acknowledged`, () => progress() >= wanted, { progress })
      },
      expect,
      expectNoFailure() {
        const { refused, unknown } = producer.counts()
        const others = `refused ${refused}, unknown ${unknown}`
        expect(refused + unknown === 0, `every response is 201 (${others})`)
      },
      sawPartialInsert: () => void partialInserts++,
      keeps: (frames) => void (keptFrames = frames),
      later: (work) => void ends.push(work),
    })
    await cluster.heal()
    await producer.stop()
    const lateMs = slackMs + (scenario.networkMs ?? 0)
    const checked = await check({
      cluster,
      events: history.events,
      payload,
      drainStallMs: scenario.drainStallMs,
      keptFrames,
      everyStoredIsAnswered: scenario.everyStoredIsAnswered ?? false,
      rewritesRows: scenario.rewritesRows ?? false,
      mayBeLeftOut: scenario.mayBeLeftOut,
      deadlinesMs: scenario.lateAnswers
        ? undefined
        : {
            logs: answerDeadlinesMs.logs + lateMs,
            feedback: answerDeadlinesMs.feedback + lateMs,
          },
    })
    return {
      counts: { ...checked.counts, partialInserts },
      violations: [...broken, ...checked.violations],
    }
  } finally {
    await producer.stop({ repeatMs: 0 }).catch(() => undefined)
    for (const end of ends) await end().catch(() => undefined)
    await cluster.close()
    await history.close()
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : ` (${describe(error.cause)})`
  return `${error.message}${cause}`
}
