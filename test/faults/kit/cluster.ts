import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import { connectRedis, type Redis } from '@intake/redis'
import { startClickHouse, startRedis, startS3 } from '@intake/local'
import { patientSql } from './patient-sql.ts'
import { createAppProcess, type AppProcess } from '@intake/test-kit/app-process'
import { createManagedService, type ManagedService } from './service.ts'
import { startTcpProxy, type TcpProxy } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import { freePorts } from '@intake/test-kit/free-ports'
import { startWebhookReceiver, type WebhookReceiver } from '@intake/test-kit/webhook-receiver'

export interface ClusterOptions {
  dataDir: string
  /** The folder that contains `gateway/dist`, `worker/dist` and `packages`. */
  root: string
  random: () => number
  gateways?: number
  workers?: number
  gatewayEnv?: Record<string, string>
  gatewayArgs?: string[]
  workerEnv?: Record<string, string>
  workerArgs?: string[]
  /** If true, the processes are connected without proxies. Proxies use the CPU of this process. */
  isDirect?: boolean
  /**
   * The number of consoles, which send the webhook and count records. By default there is none, and
   * no receiver of the webhook either.
   */
  consoles?: number
  /** Data directory of Redis, if not below `dataDir`. */
  redisDir?: string
  /** SQL to run after the tables are set up. */
  afterSetUp?: string[]
  /** Redis settings to change after setup. */
  redisConfig?: Record<string, string>
}

/** All of Intake as real processes, connected through proxies. */
export interface Cluster {
  apiKey: string
  gateways: AppProcess[]
  gatewayUrls: string[]
  /** The gateways that get requests, as if a load balancer chose among them; by default all. */
  inRotation: Set<string>
  workers: AppProcess[]
  consoles: AppProcess[]
  /** Receives the webhook; undefined unless `consoles` was given. */
  webhook: WebhookReceiver | undefined
  redis: ManagedService
  clickhouse: ManagedService
  s3: ManagedService
  /** The proxies between the processes. */
  network: Record<
    | 'gatewayToRedis'
    | 'gatewayToS3'
    | 'workerToRedis'
    | 'workerToClickHouse'
    | 'consoleToRedis'
    | 'consoleToClickHouse',
    TcpProxy
  >
  /** The connections of the test itself, without a proxy. */
  sql: ClickHouse
  keys: Redis
  /** Starts one more worker. `root` selects another build. */
  addWorker(options?: { root?: string }): Promise<AppProcess>
  /** Starts one more console. `root` selects another build. */
  addConsole(options?: { root?: string }): Promise<AppProcess>
  /**
   * Starts one more gateway and puts it into rotation when it is ready; `root` selects another
   * build.
   */
  addGateway(options?: { root?: string; env?: Record<string, string> }): Promise<AppProcess>
  gatewayReady(index?: number): Promise<boolean>
  /**
   * Reads the value of a metric of a process. `name` contains the labels as `/metrics` prints them.
   */
  metric(app: AppProcess, name: string): Promise<number>
  /** `root` selects another build. */
  setUp(options: { acceptEmptyRedis: boolean; root?: string }): Promise<void>
  /** Restores all network connections, thaws all frozen processes and starts all killed ones. */
  heal(): Promise<void>
  close(): Promise<void>
}

/** The timeout of a start. It is so long that only a process that hangs reaches it. */
const readyMs = 300_000
const apiKey = 'faults-key-0123456789abcdef'
const s3Settings = { bucket: 'intake', region: 'us-east-1' }
/** Merges are off, so that each raw row that was ever inserted can be counted. */
const noMerges = ['logs_raw', 'feedback_raw', 'dead_letters_raw', 'watermark_raw'].map(
  (table) =>
    `ALTER TABLE intake.${table} MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1`,
)

/** In versions before the console, workers did what it does. */
export const hasConsole = (build: string) => existsSync(join(build, 'console'))

type SetUp = (options: {
  redisUrl: string
  clickhouseUrl: string
  s3: { endpoint: string; bucket: string; region: string }
  apiKey: { name: string; secret: string }
  acceptEmptyRedis: boolean
}) => Promise<unknown>

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { dataDir, root, random } = options
  const ends: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of ends.toReversed()) await end().catch(() => undefined)
  }
  try {
    return await start()
  } catch (error) {
    await close()
    throw error
  }

  async function start(): Promise<Cluster> {
    mkdirSync(dataDir, { recursive: true })
    const passwords = { password: 'faults', workerPassword: 'faults', analystPassword: 'faults' }
    const common = { ...passwords, secretKey: 'faults-secret', readyMs }
    const redisDir = options.redisDir ?? join(dataDir, 'redis')
    const redis = createManagedService({
      name: 'Redis',
      launch: (port) => startRedis({ dataDir: redisDir, port, ...common }),
    })
    const clickhouse = createManagedService({
      name: 'ClickHouse',
      // With its usual low priority, it would hardly run on a busy machine.
      launch: (port) =>
        startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port, niceness: 0, ...common }),
    })
    const s3 = createManagedService({
      name: 'S3',
      launch: (port) => startS3({ dataDir: join(dataDir, 's3'), port, ...common }),
    })
    for (const backing of [redis, clickhouse, s3]) ends.push(() => backing.kill())
    await Promise.all([redis.start(), clickhouse.start(), s3.start()])

    const setUp: Cluster['setUp'] = async ({ acceptEmptyRedis, root: build = root }) => {
      // Earlier builds have it in a package of its own.
      const built = ['packages/schema/dist/setup/set-up.js', 'packages/setup/dist/index.js']
        .map((path) => join(build, path))
        .find(existsSync)
      const module = (await import(pathToFileURL(built!).href)) as { setUp: SetUp }
      await module.setUp({
        redisUrl: redis.url(),
        clickhouseUrl: clickhouse.url(),
        s3: { endpoint: s3.url(), ...s3Settings },
        apiKey: { name: 'faults', secret: apiKey },
        acceptEmptyRedis,
      })
    }
    await setUp({ acceptEmptyRedis: false })
    const sql = patientSql(createClickHouse({ url: clickhouse.url(), requestTimeoutMs: 120_000 }))
    ends.push(() => sql.close())
    for (const statement of [...noMerges, ...(options.afterSetUp ?? [])])
      await sql.command(statement)
    const keys = connectRedis({ url: redis.url(), role: 'producer', onError: () => undefined })
    ends.push(async () => keys.disconnect())
    await until('Redis is connected', () => keys.status === 'ready')
    for (const [name, value] of Object.entries(options.redisConfig ?? {})) {
      await keys.config('SET', name, value)
    }

    const proxy = async (target: number) => {
      const started = await startTcpProxy({ target, random })
      ends.push(() => started.close())
      return started
    }
    const network = {
      gatewayToRedis: await proxy(redis.port()),
      workerToRedis: await proxy(redis.port()),
      workerToClickHouse: await proxy(clickhouse.port()),
      gatewayToS3: await proxy(s3.port()),
      consoleToRedis: await proxy(redis.port()),
      consoleToClickHouse: await proxy(clickhouse.port()),
    }
    const through = (url: string, { port }: TcpProxy) => {
      if (options.isDirect) return url
      const changed = new URL(url)
      changed.port = String(port)
      return changed.href
    }
    const asWorker = (url: string) => {
      const changed = new URL(url)
      changed.username = 'worker'
      // Without this setting, ClickHouse would reduce two attempts in one insert to one row, and
      // they could not be counted.
      changed.searchParams.set('ch_optimize_on_insert', '0')
      return changed.href
    }

    const app = (name: string, folder: string, env: Record<string, string>, nodeArgs: string[]) => {
      const created = createAppProcess({
        name,
        args: [...nodeArgs, join(folder, 'dist', 'main.js')],
        env,
        logFile: join(dataDir, `${name}.log`),
      })
      ends.push(() => created.kill())
      return created
    }
    const gateways: AppProcess[] = []
    const gatewayUrls: string[] = []
    const createGateway = (port: number, build = root, env: Record<string, string> = {}) => {
      const gateway = app(
        `gateway-${gateways.length + 1}`,
        join(build, 'gateway'),
        {
          PORT: String(port),
          GATEWAY_ADMIN_PORT: '0',
          REDIS_URL: through(redis.url(), network.gatewayToRedis),
          S3_ENDPOINT: through(s3.url(), network.gatewayToS3),
          ...options.gatewayEnv,
          ...env,
        },
        options.gatewayArgs ?? [],
      )
      gateways.push(gateway)
      gatewayUrls.push(`http://127.0.0.1:${port}`)
      return gateway
    }
    for (const port of await freePorts(options.gateways ?? 1)) createGateway(port)
    const webhook = options.consoles === undefined ? undefined : await startWebhookReceiver()
    if (webhook !== undefined) ends.push(() => webhook.close())
    const consoleEnv = {
      PAGE_CLICKHOUSE_URL: through(clickhouse.url(), network.consoleToClickHouse),
      ...(webhook && {
        FEEDBACK_WEBHOOK_URL: webhook.url,
        FEEDBACK_WEBHOOK_SECRET: 'a secret of the suite',
      }),
    }
    const workers: AppProcess[] = []
    const createWorker = (build = root) => {
      const worker = app(
        `worker-${workers.length + 1}`,
        join(build, 'worker'),
        {
          WORKER_ADMIN_PORT: '0',
          REDIS_URL: through(redis.url(), network.workerToRedis),
          CLICKHOUSE_URL: through(asWorker(clickhouse.url()), network.workerToClickHouse),
          ...(!hasConsole(build) && consoleEnv),
          ...options.workerEnv,
        },
        options.workerArgs ?? [],
      )
      workers.push(worker)
      return worker
    }
    for (let index = 0; index < (options.workers ?? 1); index++) createWorker()
    const consoles: AppProcess[] = []
    const createConsole = async (build = root) => {
      // The same port at every start, because Prometheus keeps the address.
      const [port] = await freePorts(1)
      const created = app(
        `console-${consoles.length + 1}`,
        join(build, 'console'),
        {
          CONSOLE_ADMIN_PORT: String(port),
          REDIS_URL: through(redis.url(), network.consoleToRedis),
          CLICKHOUSE_URL: through(asWorker(clickhouse.url()), network.consoleToClickHouse),
          ...consoleEnv,
        },
        [],
      )
      consoles.push(created)
      return created
    }
    for (let index = 0; index < (options.consoles ?? 0); index++) await createConsole()
    await Promise.all([...gateways, ...workers, ...consoles].map((one) => one.start()))

    const cluster: Cluster = {
      apiKey,
      gateways,
      gatewayUrls,
      inRotation: new Set(gatewayUrls),
      workers,
      consoles,
      webhook,
      redis,
      clickhouse,
      s3,
      network,
      sql,
      keys,
      setUp,
      close,
      async addWorker(build) {
        const worker = createWorker(build?.root)
        await worker.start()
        return worker
      },
      async addConsole(build) {
        const created = await createConsole(build?.root)
        await created.start()
        return created
      },
      async addGateway(build) {
        const [port = 0] = await freePorts(1)
        const gateway = createGateway(port, build?.root, build?.env)
        const index = gateways.length - 1
        await gateway.start()
        await until('ready', () => cluster.gatewayReady(index))
        cluster.inRotation.add(gatewayUrls[index]!)
        return gateway
      },
      async gatewayReady(index = 0) {
        const response = await fetch(`${gatewayUrls[index]}/readyz`, {
          signal: AbortSignal.timeout(10_000),
          headers: { connection: 'close' },
        })
        return response.ok
      },
      async metric(one, name) {
        const signal = AbortSignal.timeout(20_000)
        const text = await (await fetch(`${one.adminUrl()}/metrics`, { signal })).text()
        const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
        return Number(line?.slice(name.length) ?? 0)
      },
      async heal() {
        for (const one of Object.values(network)) one.set()
        const apps = [...gateways, ...workers, ...consoles]
        for (const one of [redis, clickhouse, s3, ...apps]) one.thaw()
        await Promise.all([redis.start(), clickhouse.start(), s3.start()])
        await Promise.all(apps.map((one) => one.start()))
        await until('Redis is connected', () => keys.status === 'ready')
        await Promise.all(
          gateways.map((one, index) =>
            until(`${one.name} is ready`, () => cluster.gatewayReady(index)),
          ),
        )
      },
    }
    await Promise.all(gateways.map((_, index) => until('ready', () => cluster.gatewayReady(index))))
    // Waits until the workers are ready. Before it claims a frame, a worker must have seen that
    // Redis and ClickHouse belong together.
    await Promise.all(
      [...workers, ...consoles].map((one) =>
        until(`${one.name} is ready`, async () => {
          const signal = AbortSignal.timeout(10_000)
          return (await fetch(`${one.adminUrl()}/readyz`, { signal })).ok
        }),
      ),
    )
    return cluster
  }
}
