import { createMemoryStorage } from './memory-storage.ts'
import type { Storage } from './ports.ts'

/**
 * Storage that keeps new names and values in memory if they cannot be stored, because the storage
 * is full, forbidden or broken. A failed read or rename rejects, so that a failure is never
 * mistaken for absence. A failed append to an existing name rejects too: the caller then stores the
 * rest under a new name. What is only in memory gets no sequence numbers, because those of the
 * memory would collide with the device's.
 */
export function withFallback(storage: Storage): Storage {
  const memory = createMemoryStorage()
  return {
    list: async () => (await storage.list()).concat(await memory.list()),
    read: async (name) => (await memory.read(name)) || storage.read(name),
    async append(name, isNew, count, print) {
      const keep = () => memory.append(name, isNew, 0, () => print(0))
      if (isNew) return storage.append(name, isNew, count, print).catch(keep)
      return (await keep()) || storage.append(name, isNew, count, print)
    },
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
