import type { TimeSource } from '../core/ports.ts'
import type { AsyncStorageLike } from './async-storage.ts'
import { orTimeout } from './or-timeout.ts'

/** Timeout for a call of the storage, in milliseconds: on some devices a call never ends. */
const storageMs = 5000

/**
 * A storage whose calls reject if they take longer than five seconds. After such a call, all calls
 * reject at once for five seconds. Otherwise a client would start only after many timeouts, because
 * it reads one key after another.
 *
 * A call that was given up may still take effect later. That makes no second record, because an
 * event keeps its id when it is stored again.
 */
export function withStorageTimeout(storage: AsyncStorageLike, time: TimeSource): AsyncStorageLike {
  let silentUntil = -Infinity

  async function call<Result>(run: () => Promise<Result>): Promise<Result> {
    if (time.monotonic() < silentUntil) throw new Error('the storage does not respond')
    return orTimeout(time, storageMs, Promise.resolve().then(run), () => {
      silentUntil = time.monotonic() + storageMs
    })
  }

  return {
    getItem: (key) => call(() => storage.getItem(key)),
    setItem: (key, value) => call(() => storage.setItem(key, value)),
    removeItem: (key) => call(() => storage.removeItem(key)),
    getAllKeys: () => call(() => storage.getAllKeys()),
  }
}
