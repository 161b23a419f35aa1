import { createMemoryStorage } from './memory-storage.ts'
import type { Storage } from './ports.ts'

/**
 * Adds a fallback to a storage: new names and values that the storage cannot store, because it is
 * full, forbidden or broken, are kept in memory. A failed read or rename rejects, so that a failure
 * is never mistaken for absence. A failed append to an existing name rejects too: the caller then
 * stores the rest under a new name.
 */
export function withFallback(storage: Storage): Storage {
  const memory = createMemoryStorage()
  return {
    list: async () => (await storage.list()).concat(await memory.list()),
    read: async (name) => (await memory.read(name)) || storage.read(name),
    append: async (name, isNew, ...rest) =>
      isNew
        ? storage.append(name, isNew, ...rest).catch(() => memory.append(name, isNew, ...rest))
        : (await memory.append(name, isNew, ...rest)) || storage.append(name, isNew, ...rest),
    rename: async (from, to) => (await memory.rename(from, to)) || storage.rename(from, to),
    async remove(name) {
      await memory.remove(name)
      await storage.remove(name).catch(nothing)
    },
    get: async (key) => (await memory.get(key)) || storage.get(key),
    async set(key, value) {
      await memory.remove(key)
      await storage.set(key, value).catch(() => memory.set(key, value))
    },
  }
}

export const nothing = (): undefined => undefined
