import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { until } from '@intake/test-kit/until'
import { drained } from '../faults/kit/checker.ts'
import { openHistory } from '../faults/kit/history.ts'
import { createPayloads } from '../faults/kit/payload.ts'
import { startProducer } from '../faults/kit/producer.ts'
import { countRun } from './count.ts'
import { faults, type FaultName } from './faults.ts'
import { line, table, type Result } from './report.ts'
import { startStage, startStores, type Stage, type Stores } from './stage.ts'
import { topologies, type TopologyName } from './topologies.ts'

const { values } = parseArgs({
  options: {
    /** How many times the primary is lost in each run. */
    failovers: { type: 'string', default: '3' },
    /** Records per second. */
    rate: { type: 'string', default: '150' },
    /** Runs only one topology, or only one setting. */
    topology: { type: 'string' },
    setting: { type: 'string' },
    /** Keeps the data and logs. */
    keep: { type: 'boolean', default: false },
  },
})

interface Setting {
  gatewayEnv: Record<string, string>
  redisConfig: readonly string[]
  /** The number of shards of the log queue. Each failover kills the primary of the next shard. */
  shards: number
  /** True if this setting must not lose or duplicate a record. */
  isSafe: boolean
  /** Runs only on this topology; by default on all. */
  only?: TopologyName
}

const settings: Record<string, Setting> = {
  'REDIS_ACK_REPLICAS=0': { gatewayEnv: {}, redisConfig: [], shards: 1, isSafe: false },
  'min-replicas-to-write 1': {
    gatewayEnv: {},
    redisConfig: ['min-replicas-to-write 1', 'min-replicas-max-lag 10'],
    shards: 1,
    isSafe: false,
  },
  'REDIS_ACK_REPLICAS=1': {
    gatewayEnv: { REDIS_ACK_REPLICAS: '1' },
    redisConfig: [],
    shards: 1,
    isSafe: true,
  },
  'REDIS_ACK_REPLICAS=1, QUEUE_SHARDS=3': {
    gatewayEnv: { REDIS_ACK_REPLICAS: '1', QUEUE_SHARDS: '3' },
    redisConfig: [],
    shards: 3,
    isSafe: true,
    only: 'cluster',
  },
}

const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')
const dir = mkdtempSync(join(tmpdir(), 'intake-cluster-'))
const rangeSize = 1_000_000
const payloads = createPayloads({ feedbackEvery: 25, keyedEvery: 3, root })
const results: Result[] = []
let stores: Stores | undefined

try {
  stores = await startStores(dir)
  for (const topology of Object.keys(topologies) as TopologyName[]) {
    if (values.topology !== undefined && values.topology !== topology) continue
    for (const [setting, config] of Object.entries(settings)) {
      if (values.setting !== undefined && values.setting !== setting) continue
      if (config.only !== undefined && config.only !== topology) continue
      for (const fault of Object.keys(faults) as FaultName[]) {
        const result = await play(stores, { topology, setting, fault, config })
        results.push(result)
        console.log(line(result))
      }
    }
  }
} finally {
  await stores?.close()
  if (values.keep) console.log(`kept: ${dir}`)
  else await rm(dir, { recursive: true, force: true, maxRetries: 9 })
}
console.log(`\n${table(results)}\n`)
const failed = results.filter(({ reasons }) => reasons.length > 0).length
console.log(`${results.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 && results.length > 0 ? 0 : 1)

async function play(
  on: Stores,
  run: { topology: TopologyName; setting: string; fault: FaultName; config: Setting },
): Promise<Result> {
  const { topology, setting, fault, config } = run
  const from = results.length * rangeSize
  const dataDir = join(dir, String(results.length))
  const result: Result = {
    topology,
    setting,
    fault,
    counts: undefined,
    pauseSeconds: 0,
    reasons: [],
  }
  let stage: Stage | undefined
  try {
    stage = await startStage({ dataDir, stores: on, topology, ...config })
    const history = openHistory(join(dataDir, 'history.jsonl'))
    const producer = startProducer({
      urls: new Set([stage.gatewayUrl]),
      apiKey: stage.apiKey,
      history,
      payload: (seq) => payloads(from + seq),
      rate: Number(values.rate),
    })
    const acknowledged = async (more: number) => {
      const progress = () => producer.counts().acknowledged
      const wanted = progress() + more
      const stall = { progress, stallMs: 120_000 }
      await until(`${more} more are acknowledged`, () => progress() >= wanted, stall)
    }
    for (let count = 0; count < Number(values.failovers); count++) {
      await acknowledged(300)
      const shard = count % config.shards
      const { primaryOf } = stage.topology
      const killed = await faults[fault](stage.topology, shard)
      const lostAt = performance.now()
      await until('there is another primary', async () => (await primaryOf(shard)) !== killed)
      // Starts the killed server again, as a replica. With some settings, no record is acknowledged
      // until the new primary has a replica.
      await killed.process.start()
      await acknowledged(1)
      const seconds = (performance.now() - lostAt) / 1_000
      result.pauseSeconds = Math.max(result.pauseSeconds, seconds)
      await acknowledged(100)
      await stage.topology.untilWhole()
      await until('the gateway is ready', stage.isReady)
    }
    await producer.stop()
    await drained(stage, { shards: config.shards })
    await history.close()
    const range = { from, to: from + rangeSize }
    const { counts, violations } = await countRun({ sql: on.sql, events: history.events, range })
    result.counts = counts
    result.reasons.push(...violations)
    if (config.isSafe && counts.lost > 0) result.reasons.push('acknowledged records were lost')
    if (config.isSafe && counts.doubled > 0) result.reasons.push('records became two')
    // If nothing is lost even without any protection, the fault had no effect. The results with the
    // safe settings then prove nothing.
    if (fault === 'killed, replicas behind' && isPlain(config) && counts.lost === 0) {
      result.reasons.push('nothing was lost, although the replicas were behind')
    }
  } catch (error) {
    result.reasons.push(error instanceof Error ? error.message : String(error))
  } finally {
    await stage?.close()
  }
  return result
}

function isPlain({ gatewayEnv, redisConfig }: Setting): boolean {
  return Object.keys(gatewayEnv).length === 0 && redisConfig.length === 0
}
