import type { Storage } from './ports.ts'

/** Storage that ends with the process. */
export function createMemoryStorage(): Storage {
  const values = new Map<string, unknown>()
  let sequence = 0
  const get = async (key: string) => values.get(key)
  return {
    list: async () => Array.from(values.keys()),
    read: get as Storage['read'],
    async append(name, text, isNew) {
      const before = isNew ? '' : (values.get(name) as string | undefined)
      if (before !== undefined) values.set(name, before + text)
      return before !== undefined
    },
    async rename(from, to) {
      const text = values.get(from)
      if (values.delete(from)) values.set(to, text)
      return text !== undefined
    },
    async remove(name) {
      values.delete(name)
    },
    get,
    async set(key, value) {
      values.set(key, value)
    },
    reserve: async (count) => (sequence += count) - count + 1,
  }
}
