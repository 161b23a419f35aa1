import type { Storage } from './ports.ts'

/** Storage that ends with the process. */
export function createMemoryStorage(): Storage {
  const texts = new Map<string, string>()
  const values = new Map<string, unknown>()
  let sequence = 0
  return {
    list: async () => Array.from(texts.keys()).concat(Array.from(values.keys())),
    read: async (name) => texts.get(name),
    async append(name, text, isNew) {
      const before = texts.get(name)
      if (!isNew && before === undefined) return false
      texts.set(name, (before || '') + text)
      return true
    },
    async rename(from, to) {
      const text = texts.get(from)
      if (text === undefined) return false
      texts.delete(from)
      texts.set(to, text)
      return true
    },
    async remove(name) {
      texts.delete(name)
    },
    get: async (key) => values.get(key),
    async set(key, value) {
      if (value === undefined) values.delete(key)
      else values.set(key, value)
    },
    async reserve(count) {
      sequence += count
      return sequence - count + 1
    },
  }
}
