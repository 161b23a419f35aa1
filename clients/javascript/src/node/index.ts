import { homedir, uptime } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { createClient } from '../core/client.ts'
import { addDrops } from '../core/drops.ts'
import { createFetchTransport, exchangeWith } from '../core/fetch-transport.ts'
import type { Intake, IntakeOptions } from '../core/options.ts'
import type { Ports, TimeSource } from '../core/ports.ts'
import { noStorage } from '../core/with-fallback.ts'
import { readDevice } from './device.ts'
import { keepAttachment, type FileAttachment, type NodeAttachment } from './attachment.ts'
import { createFileStorage } from './files.ts'
import { processMark } from './runs.ts'
import { takeUnsaved } from './unsaved.ts'

export * from '../core/options.ts'
export type { ImageBytes, NodeAttachment } from './attachment.ts'

export interface NodeOptions extends IntakeOptions {
  /**
   * Directory for records that wait; it should contain nothing else, and only one process at a time
   * should use it. With `memory` nothing survives the process. Default: the directory
   * `.intake/<bundle identifier>` in the home directory; `memory` without a home directory.
   */
  storage?: string | undefined
}

/**
 * How long events gather before they are written, in milliseconds. Each write takes milliseconds,
 * because it includes an fsync. Events in memory are also written when the process ends by
 * `process.exit`, an uncaught error or an empty event loop.
 */
const writeDelayMs = 50

/**
 * Creates a client for Node. The client does no I/O before its first record or the next turn of the
 * event loop.
 */
export function createIntake(options: NodeOptions): Intake<NodeAttachment> {
  return createNodeClient(options, { storage: storageOf(options), time: systemTime })
}

/** Creates a client like `createIntake`. Tests replace its clock and timers by `host.time`. */
export function createNodeClient(
  options: NodeOptions,
  host: { storage: string; time: TimeSource },
): Intake<NodeAttachment> {
  // Only a browser can resolve a path such as `/i`.
  if (!URL.canParse(options.url)) throw new TypeError('url is no absolute URL')
  const files =
    host.storage === 'memory'
      ? undefined
      : createFileStorage(host.storage, () => addDrops(client.state, 'damaged', 1))
  const { time } = host
  const ended = new AbortController()
  const { transport } = createFetchTransport(options, {
    exchange: exchangeWith(async (url, init) => {
      const signal = AbortSignal.any([init!.signal!, ended.signal])
      return fetch(url, { ...(await withFormAsBytes(init!)), signal }).catch(throwCause)
    }, time),
    gzip: promisify(gzip) as (text: string) => Promise<BufferSource>,
  })
  const ports: Ports<NodeAttachment> = {
    storage: files ?? noStorage,
    transport,
    ...time,
    random: (words) => crypto.getRandomValues(words as Uint16Array<ArrayBuffer>),
    device: readDevice,
    runSuffix: processMark,
    writeDelayMs,
    pageEndBytes: () => 0,
    keepAttachment,
    form(payload, attachments) {
      const form = new FormData()
      form.append('payload', payload)
      for (const { data, name, type } of attachments as FileAttachment[])
        form.append('attachments', new Blob([data as Uint8Array<ArrayBuffer>], { type }), name)
      return form
    },
    async end() {
      process.removeListener('exit', saveNow)
      // Aborts an open request, because it would keep the process alive. Its events are marked as
      // attempted, so the next start sends them again under the same ids.
      ended.abort()
      // Waits for the loops before `close`. After `close` another client of the directory may take
      // over the files, so this client must not be renaming any.
      for (const loop of client.state.loops) await loop.sending()
      files?.close()
    },
  }
  const client = createClient(options, ports)
  const { wake: _wake, leavePage: _leavePage, state, ...intake } = client
  let isExiting = false
  const saveNow = () => {
    isExiting = true
    if (!files || client.stats().isOptedOut) return
    for (const { name, text } of takeUnsaved(state, files)) {
      try {
        files.appendSync(name, text)
      } catch {
        // The process is ending, so the error can no longer be reported.
      }
    }
  }
  process.once('exit', saveNow)
  return {
    ...intake,
    log(event, params) {
      const id = intake.log(event, params)
      // When the process exits, listeners of the app run after the client's listener. Nothing
      // asynchronous runs after that, so the events that these listeners log are stored at once.
      if (isExiting) saveNow()
      return id
    },
  }
}

/**
 * The directory for the records, as an absolute path: the process may change its working directory,
 * and `mkdir` of Node never returns from a relative path in a working directory that was deleted.
 */
function storageOf({ storage, bundleIdentifier }: NodeOptions): string {
  if (storage === 'memory') return storage
  try {
    return resolve(storage ?? join(homedir(), '.intake', bundleIdentifier.replace(/[^\w.-]/g, '_')))
  } catch {
    // The user of the process has no home directory, or the working directory was deleted.
    return 'memory'
  }
}

const systemTime: TimeSource = {
  now: Date.now,
  // This clock also counts while the machine sleeps.
  monotonic: bootTime(),
  setTimeout(run, ms, isIdle) {
    const timer = setTimeout(run, ms)
    return isIdle ? timer.unref() : timer
  },
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

/**
 * Returns a clock that counts the milliseconds since the machine started, even while it sleeps.
 * `uptime` counts them too, but is slow and coarse. So the clock uses the process's own clock, and
 * corrects it by `uptime` once a second.
 */
function bootTime(): () => number {
  let at = -Infinity
  let ahead = 0
  return () => {
    const own = performance.now()
    if (own - at > 1000) {
      at = own
      ahead = Math.max(ahead, uptimeMs() - own)
    }
    return own + ahead
  }
}

/**
 * Milliseconds since the machine started; 0 if a sandbox forbids the call. The client then does not
 * notice that the machine has slept.
 */
function uptimeMs(): number {
  try {
    return uptime() * 1000
  } catch {
    return 0
  }
}

/** Node's error says only `fetch failed`. Its cause says why, such as a wrong name or certificate. */
function throwCause(error: Error & { cause?: unknown }): never {
  const { message, code } = Object(error.cause) as { message?: string; code?: string }
  throw new Error(message || code || error.message)
}

/**
 * Returns the options of a request, with a form converted to bytes. When a request with a form is
 * aborted, the `fetch` of Node 24 can leave an unhandled rejection, which ends the process.
 */
async function withFormAsBytes(init: RequestInit): Promise<RequestInit> {
  if (!(init.body instanceof FormData)) return init
  const form = new Response(init.body)
  const headers = new Headers(init.headers)
  headers.set('content-type', form.headers.get('content-type')!)
  return { ...init, headers, body: await form.arrayBuffer() }
}
