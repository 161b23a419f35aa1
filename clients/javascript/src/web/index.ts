import { createClient } from '../core/client.ts'
import { createFetchTransport, exchangeWith } from '../core/fetch-transport.ts'
import type { Intake, IntakeOptions } from '../core/options.ts'
import type { TimeSource } from '../core/ports.ts'
import { readDevice } from './device.ts'
import { createIndexedDbStorage } from './indexed-db.ts'

export * from '../core/options.ts'

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
  const isPage = 'document' in globalThis
  // Does not read `indexedDB`, because a browser that forbids it may throw an error there.
  const isKept = options.storage !== 'memory' && 'indexedDB' in globalThis
  const storage = createIndexedDbStorage(isKept ? `intake.${options.bundleIdentifier}` : '')
  const { transport, keepaliveBytes } = createFetchTransport(options, {
    exchange: exchangeWith((url, init) => fetch(url, init).catch(explain), time),
    gzip: 'CompressionStream' in globalThis ? gzip : undefined,
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
      for (const blob of attachments as Blob[]) form.append('attachments', blob)
      return form
    },
    end() {
      ended.abort()
      storage.close()
    },
  })
  if (isPage) {
    const until = { signal: ended.signal }
    addEventListener('pagehide', client.leavePage, until)
    addEventListener('online', client.wake, until)
    const change = () => (document.hidden ? client.leavePage() : client.wake())
    document.addEventListener('visibilitychange', change, until)
  }
  return client
}

/**
 * A browser does not say whether it blocked a request because the gateway does not allow the origin
 * of the page, or whether it could not reach the server.
 */
const explain = (error: Error): never => {
  throw new Error(error.message + ' (CORS?)')
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
  new Response(new Response(text).body!.pipeThrough(new CompressionStream('gzip'))).arrayBuffer()
