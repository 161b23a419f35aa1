import type { Storage } from './ports.ts'

/**
 * Adds a fallback to a storage: new names and values that the storage cannot store, because it is
 * full, forbidden or broken, are kept in memory. A failed read or rename rejects, so that a failure
 * is never mistaken for absence. A failed append to an existing name rejects too: the caller then
 * stores the rest under a new name. In memory, events get no sequence numbers, because such numbers
 * would collide with those of the device's counter.
 */
export const withFallback = (storage: Storage): Storage => {
  const memory = new Map<string, unknown>()
  return {
    list: async () => (await storage.list()).concat(Array.from(memory.keys())),
    read: async (name) => (memory.get(name) as string | undefined) || storage.read(name),
    async append(name, isNew, count, print) {
      if (!memory.has(name)) {
        const appending = storage.append(name, isNew, count, print)
        if (await (isNew ? appending.catch(nothing) : appending)) return true
        if (!isNew) return false
      }
      memory.set(name, ((memory.get(name) as string | undefined) || '') + print(0))
      return true
    },
    async rename(from, to) {
      const text = memory.get(from)
      return memory.delete(from) ? !!memory.set(to, text) : storage.rename(from, to)
    },
    remove(name) {
      memory.delete(name)
      return storage.remove(name).catch(nothing)
    },
    get: async (key) => memory.get(key) || storage.get(key),
    set(key, value, isNew) {
      memory.delete(key)
      return storage.set(key, value, isNew).catch(() => isNew || memory.set(key, value))
    },
  }
}

const nowhere = () => Promise.reject(new Error())

/** A storage that has nothing and takes nothing, so that its fallback keeps everything. */
export const noStorage: Storage = {
  list: async () => [],
  read: async () => undefined,
  append: nowhere,
  rename: async () => false,
  remove: nowhere,
  get: async () => undefined,
  set: nowhere,
}

export const nothing = (): undefined => undefined
