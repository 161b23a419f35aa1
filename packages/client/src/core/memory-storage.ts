import type { Storage } from './ports.ts'

/** Storage in memory, whose content is lost when the process ends. */
export function createMemoryStorage(): Storage {
  const values = new Map<string, unknown>()
  let sequence = 0
  const get = async (key: string) => values.get(key)
  return {
    list: async () => Array.from(values.keys()),
    read: get as Storage['read'],
    async append(name, isNew, count, print) {
      const before = isNew ? '' : (values.get(name) as string | undefined)
      if (before === undefined) return false
      values.set(name, before + print(sequence + 1))
      sequence += count
      return true
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
  }
}
