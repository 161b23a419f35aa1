import { createClient } from '../core/client.ts'
import { createFetchTransport, exchangeWith } from '../core/fetch-transport.ts'
import type { Intake, IntakeOptions } from '../core/options.ts'
import type { TimeSource } from '../core/ports.ts'
import { readDevice } from './device.ts'
import { createIndexedDbStorage } from './indexed-db.ts'

export type {
  Feedback,
  FeedbackReceipt,
  FlushOptions,
  Intake,
  IntakeOptions,
  LogEvent,
  SendError,
  Stats,
} from '../core/options.ts'

export interface WebOptions extends IntakeOptions {
  /** Where records wait. With `memory` nothing survives the page. Default: `indexeddb`. */
  storage?: 'indexeddb' | 'memory' | undefined
}

/** An image: a `Blob`, such as a `File`, or its bytes. */
export type WebAttachment = Blob | BufferSource

/**
 * Creates a client for a page. Tabs and later visits of the same origin share the waiting records.
 * The client does no I/O before its first record or the next turn of the event loop.
 */
export function createIntake(options: WebOptions): Intake<WebAttachment> {
  const isPage = typeof document !== 'undefined'
  // Does not read `indexedDB`, because a browser that forbids it may throw an error there.
  const isKept = options.storage !== 'memory' && 'indexedDB' in globalThis
  const storage = createIndexedDbStorage(isKept ? `intake.${options.bundleIdentifier}` : '')
  const { transport, keepaliveBytes } = createFetchTransport(options, {
    exchange: exchangeWith((url, init) => fetch(url, init).catch(explain), time),
    gzip: typeof CompressionStream === 'undefined' ? undefined : gzip,
    keepaliveBytesMax,
  })
  const ended = new AbortController()
  const client = createClient<WebAttachment>(options, {
    storage,
    transport,
    ...time,
    random: (words) => crypto.getRandomValues(words as Uint16Array<ArrayBuffer>),
    device: readDevice,
    runSuffix: '',
    writeDelayMs: 0,
    pageEndBytes: () => (isPage && navigator.onLine ? keepaliveBytes() : 0),
    keepAttachment(given) {
      if (given instanceof Blob) return given
      return Object(given).byteLength >= 0 ? new Blob([given as BufferSource]) : undefined
    },
    form(payload, attachments) {
      const form = new FormData()
      form.append('payload', payload)
      for (const blob of attachments as (Blob | File)[])
        form.append('attachments', blob, (blob as File).name || 'image')
      return form
    },
    end() {
      ended.abort()
      storage.close()
    },
  })
  if (isPage) {
    const { signal } = ended
    addEventListener('pagehide', client.leavePage, { signal })
    addEventListener('online', client.wake, { signal })
    const change = () => (document.hidden ? client.leavePage() : client.wake())
    document.addEventListener('visibilitychange', change, { signal })
  }
  return client
}

/**
 * A browser does not say whether it blocked a request because the gateway does not allow the
 * origin of the page, or whether it could not reach the server.
 */
const explain = (error: Error): never => {
  if (error.name !== 'TypeError' || !navigator.onLine) throw error
  throw new TypeError('blocked by the browser (CORS_ORIGINS) or unreachable')
}

/** Browsers do not send keepalive bodies of more than 64 KiB. */
const keepaliveBytesMax = 60_000

const time: TimeSource = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as number),
}

const gzip = (text: string): Promise<ArrayBuffer> =>
  new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()
