import { stemOf } from '../core/entry-name.ts'
import type { Storage } from '../core/ports.ts'
import { nothing } from '../core/with-fallback.ts'

const storeName = 'records'
/** Timeout for opening the database: some browsers never respond. */
const openMs = 5000
const sequenceKey = 's'
/**
 * How many digits a number in a key has. Keys are ordered as texts, so numbers need leading zeros.
 */
const digits = 16

const pieceKey = (name: string) => `t${stemOf(name)}.`
const rangeOf = (name: string) => IDBKeyRange.bound(pieceKey(name), `${pieceKey(name)}a`)

/**
 * Creates two functions: the first runs a transaction, the second closes the database, which would
 * otherwise block its deletion.
 *
 * @param databaseName if empty, every call rejects as where a browser forbids the database
 */
const createTransact = (databaseName: string) => {
  let opening: Promise<IDBDatabase> | undefined
  const reopen = () => {
    opening = undefined
  }
  const open = () => {
    if (!opening) {
      opening = new Promise<IDBDatabase>((resolve, reject) => {
        if (!databaseName) throw new DOMException('', 'SecurityError')
        setTimeout(reject, openMs)
        const opened = indexedDB.open(databaseName)
        opened.onupgradeneeded = () => opened.result.createObjectStore(storeName)
        opened.onerror = reject
        opened.onsuccess = () => {
          const { result } = opened
          // The next call opens it again.
          result.onclose = result.onversionchange = () => {
            result.close()
            reopen()
          }
          resolve(result)
          // The browser may respond after the timeout, too.
          opening = Promise.resolve(result)
        }
      })
      // A failure may be temporary, so the first call after `openMs` opens the database again. Until
      // then calls fail at once instead of waiting for the timeout.
      opening.catch(() => databaseName && setTimeout(reopen, openMs))
    }
    return opening
  }
  /** Resolves to the result of the request that `run` returns, when the transaction is complete. */
  const transact = async <Result>(
    mode: IDBTransactionMode,
    run: (store: IDBObjectStore) => IDBRequest<Result>,
    durability?: IDBTransactionDurability,
  ): Promise<Result> => {
    const transaction = (await open()).transaction(storeName, mode, {
      durability,
    } as IDBTransactionOptions)
    return new Promise((resolve, reject) => {
      const request = run(transaction.objectStore(storeName))
      transaction.oncomplete = () => resolve(request.result)
      // When Chromium closes the database, some transactions end with only an `error` event.
      transaction.onabort = transaction.onerror = reject
    })
  }
  const close = () => opening && opening.then((opened) => opened.close(), nothing)
  return [transact, close] as const
}

/**
 * Creates the storage of a page, which all tabs of an origin share. Each call is one transaction,
 * so if two tabs rename the same segment, only one succeeds.
 *
 * The entry `n<name>` says that a name exists. The text stored under the name is in pieces, with
 * the keys `t<stem>.<number>`. The stem is the part of the name that a rename does not change, so
 * the text need not be copied.
 *
 * @param databaseName see `createTransact`
 */
export const createIndexedDbStorage = (databaseName: string): Storage & { close(): unknown } => {
  const [transact, close] = createTransact(databaseName)
  /** If the name exists or is new, calls `run`. Resolves to whether it was called. */
  const changeName = async (
    name: string,
    isNew: boolean,
    run: (store: IDBObjectStore) => void,
    durability?: IDBTransactionDurability,
  ): Promise<boolean> => {
    const change = (store: IDBObjectStore) => {
      const request = store.getKey(`n${name}`)
      if (isNew) run(store)
      else request.onsuccess = () => request.result && run(store)
      return request
    }
    return !!(await transact('readwrite', change, durability)) || isNew
  }
  const read = (name: string) => transact('readonly', (store) => store.getAll(rangeOf(name)))

  return {
    // Lists the segments of other tabs, too. If two tabs send the same event, its id is the same,
    // so the server stores it once.
    list: async () =>
      (await transact('readonly', (store) => store.getAllKeys(IDBKeyRange.bound('n', 'o')))).map(
        (key) => (key as string).slice(1),
      ),
    read: async (name) => (await read(name)).join('') || undefined,
    append: (name, isNew, count, print) =>
      changeName(name, isNew, (store) => {
        const sequence = store.get(sequenceKey) as IDBRequest<number | undefined>
        sequence.onsuccess = () => {
          const last = sequence.result || 0
          store.put(last + count, sequenceKey)
          store.put(1, `n${name}`)
          // The key of a piece ends with the number of its first event. The numbers ascend, even if
          // several tabs write. So pieces that are sorted by their keys are in order.
          store.put(print(last + 1), pieceKey(name) + String(last + 1).padStart(digits, '0'))
        }
      }),
    rename: (from, to) =>
      changeName(
        from,
        false,
        (store) => {
          store.delete(`n${from}`)
          store.put(1, `n${to}`)
        },
        'strict',
      ),
    // Keeps the text if the name does not exist: another tab has renamed the segment and now owns
    // the text.
    remove: (name) =>
      changeName(name, false, (store) => {
        store.delete(`n${name}`)
        store.delete(rangeOf(name))
      }),
    close,
    get: async (key) => (await read(key))[0],
    set: (key, value, isNew) =>
      transact('readwrite', (store) => {
        store.put(1, `n${key}`)
        return store[isNew ? 'add' : 'put'](value, pieceKey(key))
      }),
  }
}
