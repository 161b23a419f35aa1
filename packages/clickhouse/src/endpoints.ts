import {
  createClient,
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
} from '@clickhouse/client'
import { splitUrls } from '@intake/runtime'
import type { ClickHouseError } from './errors.ts'
import { createExecutor, type Reply, type Statement } from './execute.ts'

export type Execute = (statement: Statement) => Promise<Reply>

interface Endpoint {
  client: ClickHouseClient
  execute: Execute
  /** The endpoint is avoided until this time, by the monotonic clock in ms. */
  avoidUntil: number
  failures: number
}

/** How long an endpoint that failed is avoided. The time doubles with each consecutive failure. */
const avoidMs = { first: 2_000, max: 60_000 }
/** Codes of a server that is stopping, full, overloaded or without Keeper: another one is tried. */
const endpointCodes: ReadonlySet<number> = new Set([202, 225, 236, 242, 243, 745, 999])

/**
 * @param options.urls see `ClickHouseOptions.url`. While the process runs, new users and passwords
 * are used, but no new servers
 */
export function createEndpoints(options: {
  urls: string | { current(): string }
  spread: boolean
  requestTimeoutMs: number
  config: Omit<ClickHouseClientConfigOptions, 'url' | 'http_headers'>
  /** Called for an endpoint that did not respond to a statement. */
  onSilence: (statement: Statement, execute: Execute) => Promise<void>
}) {
  const { requestTimeoutMs, config, onSilence } = options
  const { urls } = options
  const current = () => splitUrls(typeof urls === 'string' ? urls : urls.current())
  const endpoints = current().map((url, index): Endpoint => {
    const { endpoint } = separateCredentials(url)
    const client = createClient({ ...config, url: endpoint })
    const headers = () => separateCredentials(current()[index] ?? url).headers
    const execute = createExecutor({ client, requestTimeoutMs, headers })
    return { client, execute, avoidUntil: 0, failures: 0 }
  })
  const start = options.spread ? Math.floor(Math.random() * endpoints.length) : 0
  const inOrder = [...endpoints.slice(start), ...endpoints.slice(0, start)]

  /** The first endpoint that may be used now or, if none, the one that may be soonest. */
  function choose(untried: readonly Endpoint[]): Endpoint | undefined {
    const now = performance.now()
    const waitOf = ({ avoidUntil }: Endpoint) => Math.max(0, avoidUntil - now)
    return untried.toSorted((a, b) => waitOf(a) - waitOf(b))[0]
  }

  function note(endpoint: Endpoint, hasFailed: boolean) {
    endpoint.failures = hasFailed ? endpoint.failures + 1 : 0
    const pauseMs = Math.min(avoidMs.first * 2 ** (endpoint.failures - 1), avoidMs.max)
    endpoint.avoidUntil = hasFailed ? performance.now() + pauseMs : 0
  }

  return {
    count: endpoints.length,
    /**
     * Executes a statement on the endpoint in use and, if that does not respond or cannot write,
     * once on each of the others. So it may be executed more than once. Rejects with the last
     * failure.
     */
    execute: async (statement: Statement): Promise<Reply> => {
      const endsAt = performance.now() + requestTimeoutMs
      // The first attempt gets the whole timeout, even if this process was interrupted meanwhile.
      let timeoutMs = requestTimeoutMs
      for (let untried = inOrder; ; timeoutMs = endsAt - performance.now()) {
        const endpoint = choose(untried)!
        untried = untried.filter((one) => one !== endpoint)
        try {
          const reply = await endpoint.execute({ ...statement, timeoutMs })
          note(endpoint, false)
          return reply
        } catch (error) {
          const { code } = error as ClickHouseError
          if (code === undefined) await onSilence(statement, endpoint.execute)
          const isItsFault = code === undefined ? !isGivenUp(statement) : endpointCodes.has(code)
          note(endpoint, isItsFault)
          const isLate = performance.now() >= endsAt || statement.signal?.aborted
          if (!isItsFault || isLate || untried.length === 0) throw error
        }
      }
    },
    close: async (): Promise<void> => {
      await Promise.all(endpoints.map(({ client }) => client.close()))
    },
  }
}

/** Whether the caller has abandoned the statement, which is not the endpoint's fault. */
function isGivenUp({ signal }: Statement): boolean {
  const hasTimedOut = (signal?.reason as Error | undefined)?.name === 'TimeoutError'
  return (signal?.aborted ?? false) && !hasTimedOut
}

function separateCredentials(url: string) {
  const endpoint = new URL(url)
  const { username, password } = endpoint
  endpoint.username = endpoint.password = ''
  const headers = {
    'X-ClickHouse-User': decodeURIComponent(username),
    'X-ClickHouse-Key': decodeURIComponent(password),
  }
  return { endpoint, headers }
}
