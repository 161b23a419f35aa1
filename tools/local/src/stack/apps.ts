import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { secretFile } from '@intake/runtime'
import { type SupervisedProcess, superviseProcess } from '../supervisor/supervised-process.ts'
import { startReadyChild } from '../supervisor/ready-child.ts'
import { tryFetch } from '../supervisor/try-fetch.ts'
import type { StackPorts } from './claim-ports.ts'
import type { Services } from './services.ts'
import type { StackConfig } from './config.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const host = '127.0.0.1'
const readyMs = 60_000
const ownPorts = import.meta.resolve('@intake/own-ports')
/** The options of Node for each app, the same as in its image (deploy/Dockerfile). */
export const nodeOptions = {
  gateway: ['--max-semi-space-size=32', '--no-allocation-site-pretenuring'],
  worker: [],
  console: [],
} as const

export interface Apps {
  gateway: SupervisedProcess
  workers: SupervisedProcess[]
  console: SupervisedProcess
}

export interface AppsOptions {
  dataDir: string
  config: StackConfig
  ports: StackPorts
  services: Services
  /** The stack's own settings replace those with the same name. */
  env: NodeJS.ProcessEnv
  say: (line: string) => void
  onChange: () => void
}

export function createApps(options: AppsOptions): Apps {
  const { dataDir, config, ports, services, say, onChange } = options
  const shared = {
    ...options.env,
    HOST: host,
    ADMIN_HOST: host,
    ...setting('REDIS_URL', services.redis.url),
  }

  /** If the URL comes from a file, the apps get its path, so that they notice a change. */
  function setting(name: string, url: string, given = name): NodeJS.ProcessEnv {
    const file = secretFile(options.env, given)
    // Sets the variable that is not used to an empty text, which counts as unset. `options.env` may
    // contain a variable of this name, and its value would otherwise remain.
    return { [name]: file === undefined ? url : '', [`${name}_FILE`]: file ?? '' }
  }

  function app(
    name: string,
    folder: keyof typeof nodeOptions,
    adminPort: number,
    env: NodeJS.ProcessEnv,
  ): SupervisedProcess {
    const script = join(root, folder, 'dist', 'main.js')
    const flags = [...nodeOptions[folder], '--enable-source-maps', `--import=${ownPorts}`]
    const logFile = join(dataDir, 'logs', `${name.toLowerCase().replace(' ', '-')}.log`)
    return superviseProcess({
      name,
      say,
      onChange,
      launch: ({ signal, again }) => {
        // A restart waits for less, because an outage of a dependency must not end an app.
        const url = `http://${host}:${adminPort}${again ? '/healthz' : '/readyz'}`
        return startReadyChild({
          name,
          command: process.execPath,
          args: [...flags, script],
          env: { ...shared, ...env },
          logFile,
          readyMs,
          signal,
          probe: async () => (await tryFetch(url, 2_000))?.isOk ?? false,
        })
      },
    })
  }

  const bucket = { S3_BUCKET: config.S3_BUCKET, S3_REGION: config.S3_REGION }
  const gateway = app('Gateway', 'gateway', ports.gatewayAdmin, {
    PORT: String(ports.gateway),
    GATEWAY_ADMIN_PORT: String(ports.gatewayAdmin),
    ...setting('S3_ENDPOINT', services.s3.url),
    ...bucket,
  })
  const workers = ports.workerAdmin.map((port, index) =>
    app(index === 0 ? 'Worker' : `Worker ${index + 1}`, 'worker', port, {
      WORKER_ADMIN_PORT: String(port),
      ...setting('CLICKHOUSE_URL', services.clickhouse.workerUrl),
    }),
  )
  const console = app('Console', 'console', ports.consoleAdmin, {
    CONSOLE_ADMIN_PORT: String(ports.consoleAdmin),
    ...setting('CLICKHOUSE_URL', services.clickhouse.workerUrl),
    ...setting('PAGE_CLICKHOUSE_URL', services.clickhouse.readerUrl, 'CLICKHOUSE_URL'),
    ...setting('S3_ENDPOINT', services.s3.url),
    ...bucket,
  })
  return { gateway, workers, console }
}
