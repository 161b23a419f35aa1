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

/**
 * Creates the storage of a page, which all tabs of an origin share. Each call is one transaction,
 * so if two tabs rename the same segment, only one succeeds. After the browser has closed the
 * database, or someone has asked to delete it, the next call opens it again.
 *
 * The entry `n<name>` says that a name exists. The text stored under the name is in pieces, with
 * the keys `t<stem>.<number>`. The stem is the part of the name that a rename does not change, so
 * the text need not be copied.
 */
export function createIndexedDbStorage(databaseName: string): Storage & { close(): void } {
  let opening: Promise<IDBDatabase> | undefined

  function database(): Promise<IDBDatabase> {
    if (!opening) {
      const attempt = (opening = new Promise<IDBDatabase>((resolve, reject) => {
        const request = indexedDB.open(databaseName)
        setTimeout(reject, openMs)
        request.onupgradeneeded = () => request.result.createObjectStore(storeName)
        request.onerror = reject
        request.onsuccess = () => {
          const { result } = request
          result.onclose = result.onversionchange = () => {
            result.close()
            opening = undefined
          }
          resolve(result)
          // The browser may respond after the timeout, too.
          opening = Promise.resolve(result)
        }
      }))
      // A failure may be temporary, so the first call after `openMs` opens the database again.
      // Until then calls fail at once instead of waiting for the timeout.
      const reopen = () => {
        if (opening === attempt) opening = undefined
      }
      attempt.catch(() => setTimeout(reopen, openMs))
    }
    return opening
  }

  /**
   * Resolves to the result of the request that `run` returns, when the transaction is complete.
   *
   * @param isDurable true if the data must survive a crash of the machine, not only of the browser
   */
  const transact = async <Result>(
    mode: IDBTransactionMode,
    run: (store: IDBObjectStore) => { result: Result },
    isDurable?: boolean,
  ): Promise<Result> => {
    const transaction = (await database()).transaction(
      storeName,
      mode,
      isDurable ? { durability: 'strict' } : {},
    )
    return new Promise((resolve, reject) => {
      const request = run(transaction.objectStore(storeName))
      transaction.oncomplete = () => resolve(request.result)
      // When Chromium closes the database, some transactions end with only an `error` event.
      transaction.onabort = transaction.onerror = reject
    })
  }

  /**
   * If the name exists, calls `run` in the transaction that found it. Resolves to whether it
   * exists.
   */
  const ifExists = async (
    name: string,
    run: (store: IDBObjectStore) => void,
    isDurable?: boolean,
  ): Promise<boolean> =>
    !!(await transact(
      'readwrite',
      (store) => {
        const request = store.getKey(`n${name}`)
        request.onsuccess = () => request.result && run(store)
        return request
      },
      isDurable,
    ))

  const pieceKey = (name: string) => `t${stemOf(name)}.`
  const rangeOf = (name: string) => IDBKeyRange.bound(pieceKey(name), `${pieceKey(name)}a`)
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
      transact('readwrite', (store) => {
        const exists = store.getKey(`n${name}`)
        const sequence = store.get(sequenceKey) as IDBRequest<number | undefined>
        const done = { result: false }
        sequence.onsuccess = () => {
          done.result = isNew || !!exists.result
          if (!done.result) return
          const last = sequence.result || 0
          store.put(last + count, sequenceKey)
          store.put(1, `n${name}`)
          // The key of a piece ends with the number of its first event. The numbers ascend, even if
          // several tabs write. So pieces that are sorted by their keys are in order.
          store.put(print(last + 1), pieceKey(name) + String(last + 1).padStart(digits, '0'))
        }
        return done
      }),
    rename: (from, to) =>
      ifExists(
        from,
        (store) => {
          store.delete(`n${from}`)
          store.put(1, `n${to}`)
        },
        true,
      ),
    async remove(name) {
      // Keeps the text if the name does not exist: another tab has renamed the segment and now owns
      // the text.
      await ifExists(name, (store) => {
        store.delete(`n${name}`)
        store.delete(rangeOf(name))
      })
    },
    // A connection that stays open would block the deletion of the database.
    close: () => {
      if (opening) opening.then((opened) => opened.close(), nothing)
    },
    get: async (key) => (await read(key))[0],
    async set(key, value) {
      await transact('readwrite', (store) => {
        store.put(1, `n${key}`)
        return store.put(value, pieceKey(key))
      })
    },
  }
}
