import { jsonDepthMax, paramsBytesMax } from './limits.ts'

/** How objects that need a form of their own are recognized, whatever realm they are of. */
interface Found {
  [name: PropertyKey]: unknown
  toISOString?(): unknown
  toJSON?(): unknown
  toString?(): string
}

/**
 * Prints a value as JSON. What JSON cannot represent becomes text, a list or an object
 * (docs/client.md, "Values"), so that one such value neither costs the event nor disappears.
 */
export const printJson = (given: unknown): string => {
  // An event with more values than this is too large. Without this limit, a graph of objects that
  // refer to each other would take too long, because each path to an object is printed.
  let left = paramsBytesMax / 2
  /** The objects that contain the current value. */
  const path: unknown[] = []

  /** Converts what `read` returns. If code of the app throws an error, the result is its message. */
  const convert = (read: () => unknown): unknown => {
    const depth = path.length
    try {
      const value = read() as Found | null | undefined
      if (value == null || /string|boolean/.test(typeof value) || Number.isFinite(value))
        return value
      if (typeof value !== 'object') return String(value)
      if (path.includes(value)) return '[Circular]'
      if (depth > jsonDepthMax || left < 0) return '[Too deep]'
      path.push(value)
      // For an invalid date, this is the message of `toISOString`.
      if (value.toISOString) return convert(() => value.toISOString!())
      if (value.toJSON) return convert(() => value.toJSON!())
      // `JSON.stringify` prints `new String('a')` and its like as what they contain.
      if (/ct (String|Number|Boolean)]/.test({}.toString.call(value))) return value
      if (Array.isArray(value)) {
        left -= value.length
        return Array.from(value, (_, index) => convert(() => value[index]))
      }
      // An iterator has no `entries`, and is not consumed.
      if (value['forEach'] && value['entries']) {
        const list = Array.from(value as never as Iterable<[string, unknown]>)
        return convert(() => (value['get'] ? Object.fromEntries(list) : list))
      }
      return convertProperties(value)
    } catch (error) {
      return convert(() => Object(error).message || error)
    } finally {
      path.length = depth
    }
  }

  const convertProperties = (value: Found): unknown => {
    let names = Object.keys(value)
    if (value['stack']) names = 'name message stack cause errors'.split(' ').concat(names)
    if (!names[0] || value['nodeType']) {
      const text = value.toString ? String(value) : ''
      if (text && text !== '[object Object]') return text
    }
    left -= names.length
    return Object.fromEntries(names.map((key) => [key, convert(() => value[key])]))
  }

  return JSON.stringify(convert(() => given))
}
