/**
 * The optional abilities of a sender. If a sender lacks one, the cases that need it are not
 * applicable.
 */
export const capabilities = {
  batch: 'sends several events in one request',
  feedback: 'sends feedback with pictures',
  bounds: 'obeys storageEventsMax',
  storageFull: 'can be started with a storage that refuses every write',
  storageFails: 'can be started with a storage whose calls all fail for a time',
  storageHangs: 'can be started with a storage that responds to no call for a time',
  clock: 'its wall clock can be shifted, and it corrects a wrong one',
  pageEnd: 'can be closed as a page is',
  optOut: 'can be told to send nothing',
  leavesOut: 'keeps no events with a name that a rule drops',
  device: 'can be started with properties of its device',
} as const
export type Capability = keyof typeof capabilities

export interface InitOptions {
  url: string
  apiKey: string
  bundleIdentifier: string
  /** If absent, the sender makes the UUID of its device, and keeps it. */
  deviceUuid?: string | undefined
  userId?: string
  device?: Record<string, unknown>
  flushIntervalMs?: number
  batchEntriesMax?: number
  retryMs?: { min: number; max: number }
  storageEventsMax?: number
  storageFull?: boolean
  storageFailsMs?: number
  storageHangsMs?: number
  clockOffsetMs?: number
}

export interface SentAttachment {
  name: string
  type: string
  base64: string
}

/** A sender under test, behind its adapter. Each call rejects with `AdapterError` if it fails. */
export interface Adapter {
  describe(): Promise<{ name: string; capabilities: string[] }>
  init(options: InitOptions): Promise<void>
  clock(offsetMs: number): Promise<void>
  /** Logs an event. When the sender has stored the event, resolves to the event's id. */
  log(event: string, params: object): Promise<string>
  logs(event: string, count: number): Promise<void>
  feedback(feedback: {
    text: string
    email?: string
    attachments?: SentAttachment[]
  }): Promise<string>
  /**
   * Makes the sender send its waiting records for at most `timeoutMs`. Resolves to the number of
   * records that are then still waiting.
   */
  flush(timeoutMs: number): Promise<number>
  state(): Promise<Record<string, unknown>>
  optOut(): Promise<void>
  optIn(): Promise<void>
  kill(): Promise<void>
  pageEnd(): Promise<void>
  clear(): Promise<void>
}

/**
 * The error of a failed call: the adapter refused it, could not be reached, or did not respond in
 * time.
 */
export class AdapterError extends Error {
  override name = 'AdapterError'
  /** The HTTP status of the adapter's response; undefined if there was no complete response. */
  readonly status: number | undefined

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/**
 * Creates the connection to a sender's adapter.
 *
 * @param options.timeoutMs the timeout of each call
 */
export function connectAdapter(options: { url: string; timeoutMs: number }): Adapter {
  const url = options.url.replace(/\/$/, '')

  async function call(
    method: string,
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>> {
    const what = `${method} ${path} of the adapter`
    const failed = (did: string, cause: unknown) =>
      new AdapterError(`${what} ${did}: ${reasonOf(cause)}`, undefined, { cause })
    const response = await fetch(url + path, {
      method,
      headers: {
        // Each connection serves one call. If a connection were used again, the server might
        // close it just before the next call arrives.
        connection: 'close',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(options.timeoutMs),
    }).catch((cause: unknown) => {
      throw failed('got no response', cause)
    })
    const text = await response.text().catch((cause: unknown) => {
      throw failed('got an incomplete response', cause)
    })
    const value = text === '' ? {} : parse(text)
    if (!response.ok || value === undefined) {
      throw new AdapterError(
        `${what} responded ${response.status} ${text.slice(0, 200)}`,
        response.status,
      )
    }
    return value
  }
  const post = (path: string, body: object = {}) => call('POST', path, body)
  const run = async (path: string, body?: object) => void (await post(path, body))

  return {
    async describe() {
      const { name, capabilities: known } = await call('GET', '/')
      return {
        name: String(name),
        capabilities: Array.isArray(known) ? known.map(String) : [],
      }
    },
    init: (init) => run('/init', init),
    clock: (offsetMs) => run('/clock', { offsetMs }),
    log: async (event, params) => String((await post('/log', { event, params }))['id']),
    logs: (event, count) => run('/logs', { event, count }),
    feedback: async (feedback) => String((await post('/feedback', feedback))['id']),
    flush: async (timeoutMs) => Number((await post('/flush', { timeoutMs }))['left']),
    state: () => call('GET', '/state'),
    optOut: () => run('/opt-out'),
    optIn: () => run('/opt-in'),
    kill: () => run('/kill'),
    pageEnd: () => run('/page-end'),
    clear: () => run('/clear'),
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message : message
}
