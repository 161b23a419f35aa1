import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startReadyChild } from '@intake/local'
import { freePorts } from '@intake/test-kit/free-ports'
import { stringify } from 'yaml'
import { folder, readYaml } from './files.ts'

/** A series of a result: its labels and its values, as `[seconds since 1970, number as text]`. */
export interface Series {
  metric: Record<string, string>
  values: [number, string][]
}
export interface Alert {
  labels: Record<string, string>
  state: 'pending' | 'firing'
}
export interface Prometheus {
  url: string
  /**
   * Evaluates a query.
   *
   * @throws {Error} if Prometheus rejects the query, or the result is not a vector
   */
  query(expr: string): Promise<Series[]>
  /** Alerts that are pending or firing. */
  alerts(): Promise<Alert[]>
  /** Lists the active scrape targets with their jobs and states. */
  targets(): Promise<{ job: string; health: string; lastError: string }[]>
  stop(): Promise<void>
}

const requestMs = 30_000
const readyMs = 120_000

/**
 * Runs the program `prometheus` from the PATH, on loopback, with the configuration and rules of
 * deploy/observability. Only the addresses of the targets are replaced.
 *
 * @param options.dir an empty folder for its data
 * @param options.targets `host:port` of each target, by job
 */
export async function startPrometheus(options: {
  dir: string
  targets: Record<string, string[]>
}): Promise<Prometheus> {
  const { dir, targets } = options
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'prometheus.yml'), stringify(configWith(targets)))
  copyFileSync(join(folder, 'alerts.yml'), join(dir, 'alerts.yml'))

  const [port] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const isReady = async () =>
    (await fetch(`${url}/-/ready`, { signal: AbortSignal.timeout(requestMs) })).ok
  const child = await startReadyChild({
    name: 'Prometheus',
    command: 'prometheus',
    args: [
      `--config.file=${join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    logFile: join(dir, 'prometheus.log'),
    readyMs,
    probe: () => isReady().catch(() => false),
  })

  async function get<Data>(path: string, params: Record<string, string> = {}): Promise<Data> {
    const response = await fetch(
      `${url}/api/v1/${path}?${new URLSearchParams(params).toString()}`,
      {
        signal: AbortSignal.timeout(requestMs),
      },
    )
    const body = (await response.json()) as { status: string; error?: string; data: Data }
    if (body.status !== 'success') throw new Error(`${params['query'] ?? path}: ${body.error}`)
    return body.data
  }

  return {
    url,
    async query(query) {
      const { resultType, result } = await get<{
        resultType: string
        result: { metric: Record<string, string>; value: [number, string] }[]
      }>('query', { query })
      if (resultType !== 'vector') throw new Error(`${query}: not a vector but a ${resultType}`)
      return result.map(({ metric, value }) => ({ metric, values: [value] }))
    },
    alerts: async () => (await get<{ alerts: Alert[] }>('alerts')).alerts,
    async targets() {
      const { activeTargets } = await get<{
        activeTargets: { labels: { job: string }; health: string; lastError: string }[]
      }>('targets', { state: 'active' })
      return activeTargets.map(({ labels: { job }, health, lastError }) => ({
        job,
        health,
        lastError,
      }))
    },
    stop: () => child.stop(),
  }
}

function configWith(targets: Record<string, string[]>) {
  const config = readYaml('prometheus.yml') as { scrape_configs: { job_name: string }[] }
  return {
    ...config,
    scrape_configs: config.scrape_configs.map(({ job_name }) => ({
      job_name,
      static_configs: [{ targets: targets[job_name] ?? [] }],
    })),
  }
}
