import { createClient } from '../core/client.ts'
import { createFetchTransport } from '../core/fetch-transport.ts'
import { createMemoryStorage } from '../core/memory-storage.ts'
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
  Stats,
} from '../core/options.ts'

export interface WebOptions extends IntakeOptions {
  /** Where records wait. With `memory` nothing survives the page. Default: `indexeddb`. */
  storage?: 'indexeddb' | 'memory' | undefined
}

/** An image: a `Blob`, such as a `File`, or its bytes. */
export type WebAttachment = Blob | BufferSource

/**
 * A client for a page. Tabs and later visits of the same origin share the waiting records. It does
 * no I/O before its first record or the next turn of the event loop.
 */
export function createIntake(options: WebOptions): Intake<WebAttachment> {
  const isPage = typeof document !== 'undefined'
  const isKept = options.storage !== 'memory' && typeof indexedDB !== 'undefined'
  const database = isKept && createIndexedDbStorage(`intake.${options.bundleIdentifier}`)
  const { transport, keepaliveBytes } = createFetchTransport({
    url: options.url,
    apiKey: options.apiKey,
    fetch: (url, init) => fetch(url, init),
    time,
    gzip: typeof CompressionStream === 'undefined' ? undefined : gzip,
    hasKeepalive: true,
  })
  const client = createClient<WebAttachment>(options, {
    storage: database || createMemoryStorage(),
    transport,
    time,
    random: (bytes) => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>),
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
        // An earlier release also kept what is no image.
        if (blob instanceof Blob) form.append('attachments', blob, (blob as File).name || 'image')
      return form
    },
  })
  if (!isPage) return client

  const ended = new AbortController()
  const { signal } = ended
  addEventListener('pagehide', client.leavePage, { signal })
  addEventListener('online', client.wake, { signal })
  const change = () => (document.hidden ? client.leavePage() : client.wake())
  document.addEventListener('visibilitychange', change, { signal })
  return {
    ...client,
    async shutdown(settings) {
      ended.abort()
      const result = await client.shutdown(settings)
      if (database) database.close()
      return result
    },
  }
}

const time: TimeSource = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as number),
}

async function gzip(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
