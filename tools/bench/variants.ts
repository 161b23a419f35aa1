import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePorts } from '@intake/test-kit/free-ports'
import { benthosConfig, buildBenthos } from './benthos.ts'
import type { Owner } from './owner.ts'
import { startProcess, type BenchProcess } from './process.ts'
import { s3Settings, type Services } from './services.ts'

export interface Variant {
  name: VariantName
  ports: number[]
  gateways: BenchProcess[]
  workers: BenchProcess[]
  /** The database with the variant's table `logs_raw`; undefined if the variant stores nothing. */
  database: string | undefined
  stop(): Promise<void>
}

export type VariantName = 'intake' | 'bare' | 'durable' | 'naive' | 'direct' | 'benthos'

export interface VariantOptions {
  services: Services
  owner: Owner
  dataDir: string
  /** With 0, a variant has no worker; by default it has what it needs. */
  workers?: number
  /** The tree whose build runs as Intake's processes; this tree by default. */
  root?: string
  /** The Node that runs Intake's processes; the one that runs the bench by default. */
  node?: string
  /** The folder into which each of Intake's processes writes a CPU profile when it exits. */
  profileDir?: string | undefined
}

const thisTree = fileURLToPath(new URL('../../../', import.meta.url))
const baselines = fileURLToPath(new URL('baselines/', import.meta.url))

type AnchorName = Exclude<VariantName, 'intake' | 'benthos'>

/** The programs of the baselines. These are small services that Intake is compared with. */
const scripts: Record<AnchorName, { gateway: string; worker?: string }> = {
  bare: { gateway: 'bare.js' },
  durable: { gateway: 'durable.js', worker: 'insert-worker.js' },
  naive: { gateway: 'naive-gateway.js', worker: 'insert-worker.js' },
  direct: { gateway: 'direct.js' },
}

export async function startVariant(name: VariantName, options: VariantOptions): Promise<Variant> {
  if (name === 'intake') return startIntake(options)
  return name === 'benthos' ? startBenthos(options) : startAnchor(name, options)
}

const unlimited = String(1e12)
const withoutLimits = {
  RATE_LIMIT_MAX: unlimited,
  EVENTS_PER_MINUTE_MAX: unlimited,
  LOG_BYTES_PER_MINUTE_MAX: unlimited,
  FEEDBACK_PER_MINUTE_MAX: unlimited,
  ATTACHMENT_BYTES_PER_MINUTE_MAX: unlimited,
  DEVICE_EVENTS_PER_MINUTE_MAX: unlimited,
  DEVICE_FEEDBACK_PER_MINUTE_MAX: unlimited,
}

async function startIntake(options: VariantOptions): Promise<Variant> {
  const { services, owner, dataDir, profileDir, root = thisTree, node = process.execPath } = options
  const ports = (await freePorts(1)) as [number]
  // The whole load uses one API key, so the limits of an API key must not apply.
  const shared = { REDIS_URL: services.redis.url, ...withoutLimits }
  const start = (name: 'gateway' | 'worker', env: Record<string, string>) => {
    const profile = [
      '--cpu-prof',
      `--cpu-prof-dir=${profileDir}`,
      `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`,
    ]
    return startProcess({
      name,
      command: node,
      args: [...(profileDir === undefined ? [] : profile), ...deployedArgs(root, name)],
      env: { ...shared, ...env },
      logFile: join(dataDir, `intake-${name}.log`),
      owner,
    })
  }
  const gateway = await start('gateway', {
    PORT: String(ports[0]),
    GATEWAY_ADMIN_PORT: '0',
    S3_ENDPOINT: services.s3.url,
    S3_BUCKET: s3Settings.bucket,
    S3_REGION: s3Settings.region,
  })
  const worker = await start('worker', {
    WORKER_ADMIN_PORT: '0',
    CLICKHOUSE_URL: services.clickhouse.url,
  })
  const [gateways, workers] = [[gateway], [worker]]
  await untilReady(ports[0])
  return {
    name: 'intake',
    ports,
    gateways,
    workers,
    database: 'intake',
    stop: () => stopAll([...gateways, ...workers]),
  }
}

/**
 * The arguments of Node in the image of a gateway or worker. The flags are those of the image; the
 * program is the one in the tree `root`.
 */
function deployedArgs(root: string, part: 'gateway' | 'worker'): string[] {
  const dockerfile = readFileSync(join(root, 'deploy', 'Dockerfile'), 'utf8')
  const program = `${part}/dist/main.js`
  const command = new RegExp(`^CMD (\\["node",.*"${program}"\\])$`, 'm').exec(dockerfile)?.[1]
  if (command === undefined) throw new Error(`${root}/deploy/Dockerfile does not run ${program}`)
  const [, ...args] = JSON.parse(command) as string[]
  return [...args.slice(0, -1), join(root, program)]
}

/** Resolves when the gateway accepts requests. */
async function untilReady(port: number): Promise<void> {
  const deadline = performance.now() + 20_000
  while (performance.now() < deadline) {
    if (await isOk(`http://127.0.0.1:${port}/readyz`)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the gateway did not become ready')
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(2_000),
    })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false // busy, or not listening yet
  }
}

async function startAnchor(name: AnchorName, options: VariantOptions): Promise<Variant> {
  const { services, owner, dataDir } = options
  const { gateway, worker } = scripts[name]
  const database = await createTable(name, services)
  const [port] = (await freePorts(1)) as [number]
  // The least that Intake's design can cost has the flags of Intake's gateway.
  const flags = name === 'durable' ? deployedArgs(thisTree, 'gateway').slice(0, -1) : []
  const start = (script: string) =>
    startProcess({
      name: `${name} ${script}`,
      // Intake's own processes use the same heap option (packages/runtime/src/heap.ts).
      args: [...flags, '--heap-growing-percent=400', join(baselines, script)],
      env: {
        PORT: String(port),
        API_KEY: services.apiKey,
        REDIS_URL: services.redis.url,
        CLICKHOUSE_URL: services.clickhouse.url,
        DATABASE: database,
      },
      logFile: join(dataDir, `${name}-${script}.log`),
      owner,
    })
  const gateways = [await start(gateway)]
  const idle = worker === undefined || options.workers === 0
  const workers = idle ? [] : [await start(worker)]
  return {
    name,
    ports: [port],
    gateways,
    workers,
    database: name === 'bare' ? undefined : database,
    stop: () => stopAll([...gateways, ...workers]),
  }
}

async function startBenthos({ services, owner, dataDir }: VariantOptions): Promise<Variant> {
  const database = await createTable('benthos', services)
  // The column `time` must be the time in the id, which Benthos cannot read.
  await services.sql.command(
    `ALTER TABLE ${database}.logs_raw MODIFY COLUMN time DEFAULT UUIDv7ToDateTime(id, 'UTC')`,
  )
  const [port] = (await freePorts(1)) as [number]
  const { username, password, origin } = new URL(services.clickhouse.url)
  const query = new URLSearchParams({
    query: `INSERT INTO ${database}.logs_raw FORMAT JSONEachRow`,
    date_time_input_format: 'best_effort',
    async_insert: '0',
    wait_end_of_query: '1',
  })
  const gateway = await startProcess({
    name: 'benthos',
    command: await buildBenthos(owner.signal),
    args: ['run', benthosConfig],
    env: {
      PORT: String(port),
      API_KEY: services.apiKey,
      CLICKHOUSE_INSERT_URL: `${origin}/?${query.toString()}`,
      CLICKHOUSE_USER: username,
      CLICKHOUSE_PASSWORD: password,
    },
    up: /Output type http_client is now active/,
    logFile: join(dataDir, 'benthos.log'),
    owner,
  })
  const { stop } = gateway
  return { name: 'benthos', ports: [port], gateways: [gateway], workers: [], database, stop }
}

/** Creates a table of the same form as Intake's in the variant's own database. */
async function createTable(name: VariantName, { sql }: Services): Promise<string> {
  const database = `bench_${name}`
  await sql.command(`CREATE DATABASE IF NOT EXISTS ${database}`)
  await sql.command(`CREATE TABLE IF NOT EXISTS ${database}.logs_raw AS intake.logs_raw`)
  return database
}

async function stopAll(processes: BenchProcess[]): Promise<void> {
  await Promise.all(processes.map((one) => one.stop()))
}
