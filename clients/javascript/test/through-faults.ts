import type { Test } from 'tap'
import { createRandom } from '@intake/test-kit/random'
import type { RunningStack } from '@intake/test-kit/running-stack'
import { until } from '@intake/test-kit/until'
import { readEndpoints } from '@intake/runtime/endpoints'
import type { Driver } from '../adapters/driver.ts'
import { startLossyProxy } from './lossy-proxy.ts'

const chunkMax = 100
const deviceUuid = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10'

interface Counts {
  rows: number
  ids: number
  sequences: number
}

/**
 * Checks that every event that a client has stored becomes one row. Meanwhile one response in five
 * is lost, the gateway is killed twice, and the client is killed five times.
 *
 * @param options.events a multiple of 100, or of 12 if fewer than 1,200
 * @param options.createDriver gets the address of the proxy in front of the gateway
 * @param options.files the files that the proxy serves to browsers
 */
export async function checkExactlyOnce(
  t: Test,
  options: {
    platform: string
    stack: RunningStack
    dataDir: string
    events: number
    createDriver: (url: string) => Driver | Promise<Driver>
    files?: ReadonlyMap<string, { type: string; body: string }>
  },
): Promise<void> {
  const { platform, stack, dataDir, events, createDriver, files } = options
  const { gateway, apiKey } = stack.endpoints
  const proxy = await startLossyProxy(t, {
    target: gateway,
    lossRate: 0.2,
    random: createRandom(7),
    ...(files && { files }),
  })
  const driver = await createDriver(proxy.url)
  t.teardown(() => driver.close())
  const bundle = `com.example.${platform}`
  const stored = await sendThroughFaults(driver, {
    url: proxy.url,
    apiKey,
    bundleIdentifier: bundle,
    dataDir,
    events,
  })
  const counts = await until('every stored event is visible', async () => {
    const found = await countRows(stack, bundle)
    return found.ids >= stored && found
  })
  t.same(counts, { rows: stored, ids: stored, sequences: stored }, 'each of them once')
  const [gaps] = await stack.clickhouse.query<{ missing: number }>(
    `SELECT toUInt32(missing) AS missing FROM intake.gaps WHERE bundle_identifier = '${bundle}'`,
  )
  t.equal(gaps?.missing, 0)
  t.comment(
    `${platform}: ${stored} events stored, ${counts.rows} rows, ${counts.ids} ids, ` +
      `${proxy.requests()} requests, ${proxy.lost()} answers lost, 2 kills of the gateway, 5 of the client`,
  )
}

/** Logs events during the faults. Resolves to how many of them the client reported as stored. */
async function sendThroughFaults(
  driver: Driver,
  options: {
    url: string
    apiKey: string
    bundleIdentifier: string
    dataDir: string
    events: number
  },
): Promise<number> {
  const { dataDir, events, ...target } = options
  const chunk = Math.min(events / 12, chunkMax)
  const start = () =>
    driver.init({
      ...target,
      deviceUuid,
      batchEntriesMax: chunk,
      flushIntervalMs: 50,
      retryMs: { min: 20, max: 500 },
      storageEventsMax: 2 * events,
      storageBytesMax: 40_000_000,
    })
  await start()
  let stored = 0
  const rounds = events / chunk
  const at = (part: number) => Math.round(rounds * part)
  const gatewayKills = new Set([at(1 / 3), at(2 / 3)])
  const clientKills = new Set([1, 2, 3, 4, 5].map((sixth) => at(sixth / 6) + 1))
  for (let round = 1; round <= rounds; round++) {
    stored += (await driver.logs(chunk, 'tap')).stored
    if (gatewayKills.has(round)) killGateway(dataDir)
    if (clientKills.has(round)) {
      // Kills the client while it is sending.
      void driver.flush(1000).catch(() => undefined)
      await driver.kill()
      await start()
    }
  }
  await until('nothing is left', async () => (await driver.flush(10_000)).left === 0, {
    progress: () => JSON.stringify(driver.state()),
  })
  return stored
}

function killGateway(dataDir: string): void {
  const pid = readEndpoints(dataDir)?.pids.gateway
  if (pid) process.kill(pid, 'SIGKILL')
}

async function countRows({ clickhouse }: RunningStack, bundle: string): Promise<Counts> {
  const [counts] = await clickhouse.query<Counts>(
    `SELECT toUInt32(count()) AS rows, toUInt32(uniqExact(id)) AS ids,
       toUInt32(uniqExact(extra.log.sequence)) AS sequences
     FROM intake.logs WHERE bundle_identifier = '${bundle}' AND event = 'tap'`,
  )
  return counts!
}
