import { join } from 'node:path'
import { type SupervisedProcess, superviseProcess } from '../supervisor/supervised-process.ts'
import { type Service } from '../engines/service.ts'
import { type ClickHouse, startClickHouse } from '../engines/clickhouse.ts'
import { startRedis } from '../engines/redis.ts'
import { startS3 } from '../engines/s3.ts'
import { splitUrls } from '@intake/runtime'
import type { StackPorts } from './claim-ports.ts'
import type { Secrets } from './secrets.ts'
import type { StackConfig } from './config.ts'

/** `url` has credentials; `process` is undefined if the stack does not run the service. */
export interface Backend {
  url: string
  process: SupervisedProcess | undefined
}

export type ClickHouseBackend = Backend &
  Pick<ClickHouse, 'workerUrl' | 'readerUrl' | 'analystUrl' | 'playUrl'>

export interface Services {
  redis: Backend
  clickhouse: ClickHouseBackend
  s3: Backend
}

export interface ServicesOptions {
  dataDir: string
  config: StackConfig
  ports: StackPorts
  secrets: Secrets
  say: (line: string) => void
  onChange: () => void
  /** Called with each process before it is started. */
  add: (process: SupervisedProcess) => void
}

/** A URL in the environment may be unintended, so the user is told of it. */
export function describeReplaced(config: StackConfig): string | undefined {
  const settings = { Redis: 'REDIS_URL', ClickHouse: 'CLICKHOUSE_URL', S3: 'S3_ENDPOINT' } as const
  const replaced = Object.entries(settings).filter(([, setting]) => config[setting] !== undefined)
  if (replaced.length === 0) return undefined
  const list = replaced.map(([name, setting]) => `${name} (${setting})`).join(', ')
  return `Not started, because the environment names another: ${list}`
}

/** Starts at the same time all services for which the environment has no URL. */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const [redis, clickhouse, s3] = await Promise.all([
    redisOf(options),
    clickhouseOf(options),
    s3Of(options),
  ])
  return { redis, clickhouse, s3 }
}

async function run<S extends Service>(
  { say, onChange, add }: ServicesOptions,
  name: string,
  launch: (signal: AbortSignal) => Promise<S>,
): Promise<{ service: S; process: SupervisedProcess }> {
  const process = superviseProcess({ name, launch: ({ signal }) => launch(signal), say, onChange })
  add(process)
  return { service: await process.start(), process }
}

const placeOf = ({ dataDir }: ServicesOptions, name: string) => ({
  dataDir: join(dataDir, name),
  logFile: join(dataDir, 'logs', `${name}.log`),
})

async function redisOf(options: ServicesOptions): Promise<Backend> {
  const { config, ports, secrets, say } = options
  if (config.REDIS_URL !== undefined) return { url: config.REDIS_URL, process: undefined }
  const { redis: port } = ports
  const { redisPassword: password } = secrets
  const maxmemory = config.REDIS_MAXMEMORY
  const { service, process } = await run(options, 'Redis', (signal) =>
    startRedis({ ...placeOf(options, 'redis'), port, password, maxmemory, signal, say }),
  )
  return { url: service.url, process }
}

async function clickhouseOf(options: ServicesOptions): Promise<ClickHouseBackend> {
  const { config, secrets, say } = options
  const { clickhouse: port } = options.ports
  const { CLICKHOUSE_URL: url } = config
  if (url !== undefined) {
    const [first = url] = splitUrls(url)
    const urls = { url, workerUrl: url, readerUrl: first, analystUrl: first, playUrl: undefined }
    return { ...urls, process: undefined }
  }
  const { clickhousePassword: password, workerPassword, readerPassword, analystPassword } = secrets
  const passwords = { password, workerPassword, readerPassword, analystPassword }
  const serverProgram = config.CLICKHOUSE_SERVER
  const place = placeOf(options, 'clickhouse')
  const { service, process } = await run(options, 'ClickHouse', (signal) =>
    startClickHouse({ ...place, port, ...passwords, serverProgram, signal, say }),
  )
  const { unconfined, unconfinedNetwork } = service
  if (unconfined !== undefined) {
    say(
      `ClickHouse has no user for analysts, because this system cannot confine it to its files: ${unconfined}.`,
    )
  } else if (unconfinedNetwork !== undefined) {
    say(
      'The user intake (not analysts) could make ClickHouse connect to other servers, because this ' +
        `system cannot prevent it: ${unconfinedNetwork}.`,
    )
  }
  return { ...service, process }
}

async function s3Of(options: ServicesOptions): Promise<Backend> {
  const { config, ports, secrets } = options
  const { s3: port } = ports
  if (config.S3_ENDPOINT !== undefined) return { url: config.S3_ENDPOINT, process: undefined }
  const { s3AccessKey: accessKey, s3SecretKey: secretKey } = secrets
  const { service, process } = await run(options, 'S3', (signal) =>
    startS3({ ...placeOf(options, 's3'), port, accessKey, secretKey, signal }),
  )
  return { url: service.url, process }
}
