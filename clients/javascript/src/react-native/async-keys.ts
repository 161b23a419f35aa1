import { createSerial } from '../core/serial.ts'

/**
 * The methods of `@react-native-async-storage/async-storage` that the client uses. Any object that
 * has them can be used.
 */
export interface AsyncStorageLike {
  getItem(key: string): Promise<string | null>
  setItem(key: string, value: string): Promise<unknown>
  removeItem(key: string): Promise<unknown>
  getAllKeys(): Promise<readonly string[]>
}

/** Timeout of the first call: on some devices AsyncStorage never responds. */
const openMs = 5000

/** The keys of AsyncStorage that begin with `prefix`, and changes of them. */
export function createKeys(storage: AsyncStorageLike, prefix: string) {
  const inOrder = createSerial()
  let known: Promise<Set<string>> | undefined

  /**
   * All keys with the prefix. They are read only once, because no other process uses them. If
   * AsyncStorage does not respond, calls fail until it does. Until then nothing was written, so no
   * earlier call can take effect late.
   */
  const keys = (): Promise<Set<string>> => known || (known = readKeys())

  function readKeys(): Promise<Set<string>> {
    const reading = storage
      .getAllKeys()
      .then((all) => new Set(all.filter((key) => key.indexOf(prefix) === 0)))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('timeout')), openMs)
      reading.then(
        (all) => {
          clearTimeout(timer)
          known = reading
          resolve(all)
        },
        (error) => {
          clearTimeout(timer)
          known = undefined
          reject(error)
        },
      )
    })
  }

  /** Runs a task after all earlier ones, when the keys are known. */
  const serial = <Result>(task: () => Promise<Result>): Promise<Result> =>
    inOrder(() => keys().then(task))

  /**
   * Stores the value first and then adds the key to `keys`. So a key without a value is never found
   * or renamed.
   */
  async function put(key: string, value: string): Promise<void> {
    const all = await keys()
    await storage.setItem(prefix + key, value)
    all.add(prefix + key)
  }

  async function drop(key: string): Promise<void> {
    if ((await keys()).delete(prefix + key)) await storage.removeItem(prefix + key)
  }

  async function startingWith(start: string): Promise<string[]> {
    return Array.from(await keys())
      .map((key) => key.slice(prefix.length))
      .filter((key) => key.indexOf(start) === 0)
      .sort()
  }

  return {
    get: (key: string) => storage.getItem(prefix + key),
    has: async (key: string) => (await keys()).has(prefix + key),
    put,
    drop,
    /** Forgets a key whose value was not stored. */
    forget: async (key: string) => (await keys()).delete(prefix + key),
    startingWith,
    serial,
  }
}

export type Keys = ReturnType<typeof createKeys>
