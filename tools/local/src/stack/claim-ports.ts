import { setTimeout as delay } from 'node:timers/promises'
import { lockPort } from '../supervisor/lock.ts'
import { pickPort, portProblem } from '../supervisor/ports.ts'
import { StartError } from '../supervisor/start-error.ts'
import type { StackConfig } from './config.ts'

export interface StackPorts {
  gateway: number
  gatewayAdmin: number
  workerAdmin: number[]
  consoleAdmin: number
  /** 0 if a URL replaces the embedded service. */
  redis: number
  clickhouse: number
  s3: number
}

export interface ClaimPortsOptions {
  config: StackConfig
  /** Whether somebody has set this port. A default port that is in use is replaced by a free one. */
  isChosen: (setting: string) => boolean
  say: (line: string) => void
  /** The processes of a stack that was killed may use their ports for so long. */
  waitMs: number
  signal: AbortSignal
}

const pauseMs = 200

/** @throws {StartError} if ports cannot be used; names all of them */
export async function claimPorts(options: ClaimPortsOptions): Promise<StackPorts> {
  const { config, isChosen, say } = options
  const waitForPort = createPortWait(options)
  const claimed = new Map<number, string>()
  const problems: string[] = []

  async function claim(setting: keyof StackConfig & `${string}PORT`, what: string) {
    const wanted = config[setting]
    if (wanted === 0) return claimFree(setting)
    const other = claimed.get(wanted)
    const problem = other === undefined ? await waitForPort(wanted) : `${other} is ${wanted}, too`
    if (problem === undefined) {
      claimed.set(wanted, setting)
      return wanted
    }
    const reason = `Port ${wanted} for ${what} cannot be used, ${problem}`
    if (isChosen(setting)) {
      problems.push(`${reason}: set ${setting} to a free port.`)
      return wanted
    }
    const port = await claimFree(setting)
    say(`${reason}: it is ${port} this time.`)
    return port
  }

  async function claimFree(setting: string): Promise<number> {
    const port = await pickPort()
    if (claimed.has(port)) return claimFree(setting)
    claimed.set(port, setting)
    return port
  }

  const gateway = await claim('PORT', 'the gateway')
  const gatewayAdmin = await claim('GATEWAY_ADMIN_PORT', 'the health checks of the gateway')
  const consoleAdmin = await claim('CONSOLE_ADMIN_PORT', 'the page')
  const redis = config.REDIS_URL ? 0 : await claim('REDIS_PORT', 'Redis')
  const clickhouse = config.CLICKHOUSE_URL ? 0 : await claim('CLICKHOUSE_PORT', 'ClickHouse')
  const s3 = config.S3_ENDPOINT ? 0 : await claim('S3_PORT', 'S3')
  const workerAdmin: number[] = []
  while (workerAdmin.length < config.WORKERS) {
    workerAdmin.push(
      workerAdmin.length === 0
        ? await claim('WORKER_ADMIN_PORT', 'the health checks of the worker')
        : await claimFree('WORKER_ADMIN_PORT'),
    )
  }
  if (problems.length > 0) throw new StartError(problems.join('\n'))
  return { gateway, gatewayAdmin, workerAdmin, consoleAdmin, redis, clickhouse, s3 }
}

/** Takes a port that has no problem, so that no stack that starts at this moment chooses it, too. */
async function takePort(port: number): Promise<string | undefined> {
  const problem = await portProblem(port)
  if (problem !== undefined || (await lockPort(port, 'claimed'))) return problem
  return 'another Intake has it'
}

/**
 * Returns a function that waits for an occupied port. It resolves to why the port still cannot be
 * used; undefined if it can.
 */
function createPortWait({ waitMs, signal }: Pick<ClaimPortsOptions, 'waitMs' | 'signal'>) {
  const waitUntil = performance.now() + waitMs
  return async (port: number) => {
    let problem = await takePort(port)
    while (problem !== undefined && performance.now() < waitUntil) {
      await delay(pauseMs, undefined, { signal })
      problem = await takePort(port)
    }
    return problem
  }
}
