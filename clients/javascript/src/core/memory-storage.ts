import type { Storage } from './ports.ts'

/**
 * Creates a storage in memory. Its content is lost when the process ends. Its events get no
 * sequence numbers, because such numbers would collide with those of the device's counter.
 */
export function createMemoryStorage(): Storage {
  const values = new Map<string, unknown>()
  const get = async (key: string) => values.get(key)
  return {
    list: async () => Array.from(values.keys()),
    read: get as Storage['read'],
    async append(name, isNew, _count, print) {
      const before = isNew ? '' : (values.get(name) as string | undefined)
      if (before === undefined) return false
      values.set(name, before + print(0))
      return true
    },
    async rename(from, to) {
      const text = values.get(from)
      if (values.delete(from)) values.set(to, text)
      return text !== undefined
    },
    remove: async (name) => values.delete(name),
    get,
    set: async (key, value) => values.set(key, value),
  }
}
