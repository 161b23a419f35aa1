import { setTimeout as pause } from 'node:timers/promises'
import type { Driver } from '../../javascript/adapters/driver.ts'
import { methodsOf } from '../../javascript/adapters/methods-of.ts'
import type * as core from '../../javascript/src/core/client.ts'
import type * as fetching from '../../javascript/src/core/fetch-transport.ts'
import type { IntakeOptions } from '../../javascript/src/core/options.ts'
import type { Storage, TimeSource } from '../../javascript/src/core/ports.ts'
import { createDeviceStorage } from '../../javascript/test/host.ts'
import { capabilities } from '../src/adapter.ts'

/** The modules of the client for JavaScript from which a driver creates clients. */
export type ClientModules = Pick<typeof core, 'createClient'> &
  Pick<typeof fetching, 'createFetchTransport' | 'exchangeWith'>

interface Picture {
  name: string
  type: string
  base64: string
}

/** What a page may send when it closes, as in browsers. */
const pageEndBytes = 60_000
/** After this time, a call of a storage that does not respond fails, as in browsers. */
const openMs = 5_000

/**
 * Drives the client for JavaScript in this process, with a storage in memory that survives `kill`.
 * A client that was killed gets no response, timer or call of the storage any more.
 *
 * @param options.sendsAtStart whether what is left of earlier runs is sent before `init` resolves
 */
export function createClientDriver(
  { createClient, createFetchTransport, exchangeWith }: ClientModules,
  options: { name: string; capabilities?: readonly string[]; sendsAtStart?: boolean },
): Driver {
  const { name, capabilities: has = Object.keys(capabilities), sendsAtStart = false } = options
  let kept = createDeviceStorage()
  let client: core.Client<Picture> | undefined
  let aheadMs = 0
  let end = new AbortController()
  const open = new Set<Promise<unknown>>()

  function running(): core.Client<Picture> {
    if (client === undefined) throw new Error('the client is not running')
    return client
  }

  function kill(): void {
    end.abort()
    client = undefined
  }

  function create(given: IntakeOptions, storage: Storage): core.Client<Picture> {
    const { signal } = end
    const time: TimeSource = {
      now: () => Date.now() + aheadMs,
      monotonic: () => performance.now(),
      setTimeout: (run, ms) => setTimeout(() => signal.aborted || run(), ms).unref(),
      clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
    }
    const exchange = exchangeWith((url, init) => {
      const response = fetch(url, { ...init, signal: AbortSignal.any([init!.signal!, signal]) })
      const ended = response.then(nothing, nothing).finally(() => open.delete(ended))
      open.add(ended)
      return response
    }, time)
    return createClient<Picture>(given, {
      ...time,
      storage: guarded(storage, signal),
      transport: createFetchTransport(given, { exchange }).transport,
      random: (words) => crypto.getRandomValues(words as Uint16Array<ArrayBuffer>),
      device: async () => ({ os: 'Test' }),
      runSuffix: '',
      writeDelayMs: 1,
      pageEndBytes: () => pageEndBytes,
      keepAttachment: (picture) => picture,
      end: nothing,
      form(payload, pictures) {
        const form = new FormData()
        form.append('payload', payload)
        for (const picture of pictures as Picture[]) {
          const bytes = Buffer.from(picture.base64, 'base64')
          form.append('attachments', new Blob([bytes], { type: picture.type }), picture.name)
        }
        return form
      },
    })
  }

  const { stats, ...calls } = methodsOf(() => running())
  return {
    name,
    capabilities: [...has],
    ...calls,
    async init(init) {
      const { clockOffsetMs = 0, storageFull, storageFailsMs, storageHangsMs, ...given } = init
      kill()
      end = new AbortController()
      aheadMs = clockOffsetMs
      client = create(given, broken(kept, { storageFull, storageFailsMs, storageHangsMs }))
      if (sendsAtStart) await client.flush({ timeoutMs: 1_000 })
    },
    clock: async (offsetMs) => void (aheadMs = offsetMs),
    async log(event, params) {
      const { id } = await calls.log(event, params as Record<string, unknown>)
      return id === undefined ? {} : { id }
    },
    logs: (count, event) => calls.logs(0, count, event),
    feedback: (text, email, attachments) => running().feedback({ text, email, attachments }),
    state: async () => stats(),
    kill: async () => kill(),
    async pageEnd() {
      running().leavePage()
      await Promise.all(open)
      kill()
    },
    async clear() {
      kill()
      kept = createDeviceStorage()
    },
    close: async () => kill(),
  }
}

const nothing = () => undefined

/** Changes every call of a storage. */
function wrapped(storage: Storage, call: (work: () => Promise<unknown>, name: string) => unknown) {
  const entries = Object.entries(storage) as [string, (...args: unknown[]) => Promise<unknown>][]
  return Object.fromEntries(
    entries.map(([name, work]) => [name, (...args: unknown[]) => call(() => work(...args), name)]),
  ) as unknown as Storage
}

/** Once the signal is aborted, no call does anything or returns. */
const guarded = (storage: Storage, signal: AbortSignal): Storage =>
  wrapped(storage, async (work) => {
    const result = signal.aborted ? undefined : await work()
    return signal.aborted ? new Promise(nothing) : result
  })

/** A storage that fails as a case of the suite demands. */
function broken(
  storage: Storage,
  how: {
    storageFull?: boolean | undefined
    storageFailsMs?: number | undefined
    storageHangsMs?: number | undefined
  },
): Storage {
  const { storageFull = false, storageFailsMs = 0, storageHangsMs = 0 } = how
  const began = performance.now()
  return wrapped(storage, async (work, name) => {
    const fails = performance.now() < began + storageFailsMs
    if (fails || (storageFull && /append|set|rename/.test(name))) throw new Error('full or broken')
    const hangsMs = began + storageHangsMs - performance.now()
    if (hangsMs > 0) await pause(Math.min(hangsMs, openMs), undefined, { ref: false })
    if (hangsMs > openMs) throw new Error('no response')
    return work()
  })
}
