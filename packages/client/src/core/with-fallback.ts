import { createMemoryStorage } from './memory-storage.ts'
import type { Storage } from './ports.ts'

/**
 * Storage that never rejects: what cannot be stored because the storage is full, forbidden or
 * broken is kept in memory. A name may have its beginning in one and its end in the other.
 */
export function withFallback(storage: Storage): Storage {
  const memory = createMemoryStorage()
  /** What a name is called in the storage that could not rename it. */
  const actual = new Map<string, string>()
  const actualOf = (name: string) => actual.get(name) || name
  const or = <Result>(result: Promise<Result>, preset: Result): Promise<Result> =>
    result.catch(() => preset)
  const attempt = <Result>(run: () => Promise<Result>): Promise<Result> => {
    try {
      return run()
    } catch (error) {
      return Promise.reject(error)
    }
  }

  return {
    async list() {
      const stored = await or(
        attempt(() => storage.list()),
        [],
      )
      const names = stored.concat(await memory.list())
      return names.filter((name, at) => names.indexOf(name) === at)
    },
    async read(name) {
      const stored = await or(
        attempt(() => storage.read(actualOf(name))),
        undefined,
      )
      const rest = await memory.read(name)
      return stored === undefined && rest === undefined ? undefined : (stored || '') + (rest || '')
    },
    async append(name, text, isNew) {
      if ((await memory.read(name)) !== undefined) return memory.append(name, text, false)
      try {
        return await attempt(() => storage.append(actualOf(name), text, isNew))
      } catch {
        return memory.append(name, text, true)
      }
    },
    async rename(from, to) {
      const isHere = await memory.rename(from, to)
      try {
        const isThere = await attempt(() => storage.rename(actualOf(from), to))
        actual.delete(from)
        return isThere || isHere
      } catch {
        // If records waited for a name that full storage cannot write, it would stay full.
        actual.set(to, actualOf(from))
        actual.delete(from)
        return true
      }
    },
    async remove(name) {
      await memory.remove(name)
      await or(
        attempt(() => storage.remove(actualOf(name))),
        undefined,
      )
      actual.delete(name)
    },
    async get(key) {
      const kept = await memory.get(key)
      return kept === undefined
        ? or(
            attempt(() => storage.get(key)),
            undefined,
          )
        : kept
    },
    async set(key, value) {
      await memory.set(key, undefined)
      try {
        await attempt(() => storage.set(key, value))
      } catch {
        await memory.set(key, value)
      }
    },
    reserve: (count) => attempt(() => storage.reserve(count)).catch(() => memory.reserve(count)),
    close: () => storage.close && storage.close(),
  }
}
