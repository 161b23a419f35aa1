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
  Intake,
  IntakeOptions,
  LogEvent,
  Stats,
} from '../core/options.ts'

export interface WebOptions extends IntakeOptions {
  /** Where records wait. With `memory` nothing survives the page. Default: `indexeddb`. */
  storage?: 'indexeddb' | 'memory' | undefined
}

/**
 * A client for a page. Tabs and later visits of the same origin share the waiting records. It does
 * no I/O before its first record or the next turn of the event loop.
 */
export function createIntake(options: WebOptions): Intake<Blob> {
  const isKept = options.storage !== 'memory' && typeof indexedDB !== 'undefined'
  const { transport, keepaliveBytes } = createFetchTransport({
    url: options.url,
    apiKey: options.apiKey,
    fetch: (url, init) => fetch(url, init),
    time,
    gzip: typeof CompressionStream === 'undefined' ? undefined : gzip,
    hasKeepalive: true,
  })
  const client = createClient<Blob>(options, {
    storage: isKept
      ? createIndexedDbStorage(`intake.${options.bundleIdentifier}`)
      : createMemoryStorage(),
    transport,
    time,
    random: (bytes) => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>),
    device: readDevice,
    runSuffix: '',
    writeDelayMs: 0,
    pageEndBytes: () => (navigator.onLine ? keepaliveBytes() : 0),
    keepAttachment: (attachment) => attachment,
    form(payload, attachments) {
      const form = new FormData()
      form.append('payload', payload)
      for (const blob of attachments as (Blob | File)[])
        form.append('attachments', blob, (blob as File).name || 'image')
      return form
    },
  })
  if (typeof document === 'undefined') return client

  const ended = new AbortController()
  const { signal } = ended
  addEventListener('pagehide', client.leavePage, { signal })
  addEventListener('online', client.wake, { signal })
  const change = () => (document.hidden ? client.leavePage() : client.wake())
  document.addEventListener('visibilitychange', change, { signal })
  return {
    ...client,
    shutdown(settings) {
      ended.abort()
      return client.shutdown(settings)
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
