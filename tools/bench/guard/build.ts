import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { commandLine } from '@intake/test-kit/command-line'
import type { Owner } from '../owner.ts'
import type { BenchProcess } from '../process.ts'
import { s3Settings, startServices, type Addresses, type Services } from '../services.ts'
import { startVariant } from '../variants.ts'

export interface Build {
  root: string
  dataDir: string
  owner: Owner
  services: Services
}

export interface Target {
  name: string
  services: Services
  gateway: BenchProcess
  worker: BenchProcess
  ports: number[]
  stop(): Promise<void>
}

const setUpMs = 120_000

/** Starts the services of a build, and sets them up with the command `setup` of its source tree. */
export async function openBuild(options: Omit<Build, 'services'>): Promise<Build> {
  const { root, dataDir, owner } = options
  const prepare = (addresses: Addresses) => setUp(addresses, { root, signal: owner.signal })
  return { ...options, services: await startServices({ dataDir, owner, prepare }) }
}

export async function startTarget(name: string, build: Build): Promise<Target> {
  const { gateways, workers, ports, stop } = await startVariant('intake', build)
  const [gateway, worker] = [...gateways, ...workers] as [BenchProcess, BenchProcess]
  return { name, services: build.services, gateway, worker, ports, stop }
}

async function setUp(
  { redisUrl, clickhouseUrl, s3Url, apiKey }: Addresses,
  { root, signal }: { root: string; signal: AbortSignal },
): Promise<void> {
  await promisify(execFile)(process.execPath, [commandLine(root), 'setup'], {
    env: {
      ...process.env,
      REDIS_URL: redisUrl,
      CLICKHOUSE_URL: clickhouseUrl,
      S3_ENDPOINT: s3Url,
      S3_BUCKET: s3Settings.bucket,
      S3_REGION: s3Settings.region,
      INTAKE_API_KEY: apiKey,
    },
    signal,
    timeout: setUpMs,
  })
}
