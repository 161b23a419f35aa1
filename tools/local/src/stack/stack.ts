import { resolve } from 'node:path'
import { loopbackOrigins, objectStoreSettings } from '@intake/config'
import { connectOnlyToOwnUser } from '@intake/own-ports'
import type { Endpoints } from '@intake/runtime/endpoints'
import { setUp } from '@intake/schema/setup'
import { type Lock, lockDataDir } from '../supervisor/lock.ts'
import { messageOf } from '../supervisor/start-error.ts'
import { type SupervisedProcess } from '../supervisor/supervised-process.ts'
import { type Apps, createApps } from './apps.ts'
import { claimPorts, type StackPorts } from './claim-ports.ts'
import { makeDataDir } from './data-dir.ts'
import { claimDataFormat } from './data-format.ts'
import { createRunFiles, type RunFiles } from './run-files.ts'
import { loadSecrets } from './secrets.ts'
import { describeReplaced, type Services, startServices } from './services.ts'
import { sharedSettings } from './shared-settings.ts'
import type { StackConfig } from './config.ts'

export interface StackOptions {
  config: StackConfig
  /** Passed to the gateway, the workers and the console. */
  env: NodeJS.ProcessEnv
  acceptEmptyRedis: boolean
  say: (line: string) => void
}

export interface RunningStack {
  endpoints: Endpoints
  playUrl: string | undefined
}

export interface Stack {
  /** Resolves when every process is ready. Call `stop` even after a rejection. */
  start(): Promise<RunningStack>
  /** Stops all in the order of the data flow, within ten seconds. Works during `start` too. */
  stop(): Promise<void>
  kill(): void
}

const gatewayGraceMs = 5000
/** The total time for stopping the gateway and, after it, the workers and the console. */
const appsGraceMs = 8000
const serviceGraceMs = 900

/** The stack is a complete Intake with one data directory. Starts nothing yet. */
export function createStack(options: StackOptions): Stack {
  const run: Run = {
    options,
    dataDir: resolve(options.config.INTAKE_DATA_DIR),
    ending: new AbortController(),
    serviceProcesses: [],
  }
  let stopping: Promise<void> | undefined
  return {
    start: () => start(run),
    stop: () => (stopping ??= stop(run)),
    kill() {
      for (const process of run.serviceProcesses) process.kill()
      if (run.apps !== undefined) for (const process of allOf(run.apps)) process.kill()
    },
  }
}

/** What one run of the stack has started. */
interface Run {
  options: StackOptions
  dataDir: string
  ending: AbortController
  serviceProcesses: SupervisedProcess[]
  apps?: Apps
  lock?: Lock
  files?: RunFiles
  /** Writes `endpoints.json` again; undefined before the first time, and once the stack ends. */
  writeEndpoints?: (() => void) | undefined
}

/** Claims the data directory and the ports; resolves to the ports, and to what the apps get. */
async function claim(run: Run): Promise<{ ports: StackPorts; env: NodeJS.ProcessEnv }> {
  const { dataDir, ending } = run
  const { config, env, say } = run.options
  makeDataDir(dataDir)
  run.lock = await lockDataDir(dataDir)
  claimDataFormat(dataDir)
  const files = createRunFiles(dataDir)
  run.files = files
  const waitMs = files.previousRunWasKilled ? 12_000 : 0
  const ports = await claimPorts({
    config,
    isChosen: (setting) => Boolean(env[setting]),
    say,
    waitMs,
    signal: ending.signal,
  })
  const ownPorts = [ports.redis, ports.clickhouse, ports.s3].filter(Boolean).join(',')
  connectOnlyToOwnUser(ownPorts)
  const CORS_ORIGINS = env['CORS_ORIGINS'] || loopbackOrigins
  return { ports, env: { ...env, OWN_PORTS: ownPorts, CORS_ORIGINS } }
}

async function start(run: Run): Promise<RunningStack> {
  const { dataDir, ending, serviceProcesses } = run
  const { config, say, acceptEmptyRedis } = run.options
  const { ports, env } = await claim(run)
  const secrets = loadSecrets(dataDir)
  const apiKey = config.INTAKE_API_KEY ?? secrets.apiKey
  const onChange = () => run.writeEndpoints?.()
  const add = (process: SupervisedProcess) => serviceProcesses.push(process)

  ending.signal.throwIfAborted()
  say(`Starting Intake: data and logs are in ${dataDir}`)
  const replaced = describeReplaced(config)
  if (replaced !== undefined) say(replaced)
  const services = await startServices({
    dataDir,
    config,
    ports,
    secrets,
    say,
    onChange,
    add,
  })
  ending.signal.throwIfAborted()

  await setUp({
    redisUrl: services.redis.url,
    clickhouseUrl: services.clickhouse.url,
    clickhouseCluster: config.CLICKHOUSE_CLUSTER,
    s3: objectStoreSettings({ ...config, S3_ENDPOINT: services.s3.url }),
    apiKey: { name: 'npm start', secret: apiKey },
    acceptEmptyRedis,
  })
  ending.signal.throwIfAborted()
  say('Redis, ClickHouse and S3 are ready: starting the gateway, the workers and the console')

  const apps = createApps({ dataDir, config, ports, services, env, say, onChange })
  run.apps = apps
  await Promise.all(allOf(apps).map((process) => process.start()))
  ending.signal.throwIfAborted()

  const describe = () => describeEndpoints({ ports, services, apiKey, env, ...apps })
  run.writeEndpoints = () => {
    try {
      run.files?.writeEndpoints(describe())
    } catch (error) {
      say(`endpoints.json could not be written: ${messageOf(error)}`)
    }
  }
  run.writeEndpoints()
  return { endpoints: describe(), playUrl: services.clickhouse.playUrl }
}

async function stop(run: Run): Promise<void> {
  const { apps, serviceProcesses } = run
  run.writeEndpoints = undefined
  run.ending.abort()
  const until = performance.now() + appsGraceMs
  await apps?.gateway.stop(gatewayGraceMs)
  const left = Math.max(0, until - performance.now())
  const others = apps === undefined ? [] : [...apps.workers, apps.console]
  await Promise.all(others.map((process) => process.stop(left)))
  for (const name of ['S3', 'ClickHouse', 'Redis']) {
    await serviceProcesses.find((process) => process.name === name)?.stop(serviceGraceMs)
  }
  run.files?.remove()
  await run.lock?.release()
}

const allOf = ({ gateway, workers, console }: Apps): SupervisedProcess[] => [
  gateway,
  ...workers,
  console,
]

function describeEndpoints(
  options: {
    ports: StackPorts
    services: Services
    apiKey: string
    env: NodeJS.ProcessEnv
  } & Apps,
): Endpoints {
  const { ports, services, apiKey, env, gateway, workers, console } = options
  const { redis, clickhouse, s3 } = services
  const workerAdmins = ports.workerAdmin.map((port) => `http://127.0.0.1:${port}`)
  const pidOf = (process: SupervisedProcess | undefined) => process?.pid() ?? null
  return {
    gateway: `http://127.0.0.1:${ports.gateway}`,
    gatewayAdmin: `http://127.0.0.1:${ports.gatewayAdmin}`,
    workerAdmin: workerAdmins[0] ?? null,
    workerAdmins,
    page: `http://127.0.0.1:${ports.consoleAdmin}`,
    redis: redis.url,
    clickhouse: clickhouse.url,
    analyst: clickhouse.analystUrl,
    s3: s3.url,
    apiKey,
    settings: sharedSettings(env),
    pids: {
      redis: pidOf(redis.process),
      clickhouse: pidOf(clickhouse.process),
      s3: pidOf(s3.process),
      gateway: pidOf(gateway),
      workers: workers.map(pidOf),
      console: pidOf(console),
    },
  }
}
