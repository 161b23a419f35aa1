import { stemOf } from '../core/entry-name.ts'
import type { Storage } from '../core/ports.ts'

const storeName = 'records'
/** Some browsers never answer a request to open a database. */
const openMs = 5000
const sequenceKey = 's'

/**
 * Storage of a page. All tabs of an origin share it; each call is one transaction, so that of two
 * tabs that rename a segment one succeeds.
 *
 * A name is the key `n` and itself. What it contains is in pieces under `t`, the stem of the name and
 * a number, so that a rename does not copy it.
 */
export function createIndexedDbStorage(databaseName: string): Storage {
  let opening: Promise<IDBDatabase> | undefined
  let pieces = 0

  const database = (): Promise<IDBDatabase> =>
    opening ||
    (opening = new Promise((resolve, reject) => {
      const request = indexedDB.open(databaseName)
      setTimeout(reject, openMs)
      request.onupgradeneeded = () => request.result.createObjectStore(storeName)
      request.onerror = reject
      request.onsuccess = () => resolve(request.result)
    }))

  /**
   * Resolves to the result of the request that `run` returns, when its transaction is complete.
   *
   * @param isDurable it survives a crash of the machine, not only of the browser
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
      transaction.onabort = reject
    })
  }

  /** Does something in the same transaction if a name exists. */
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
    // Two tabs may send the same events; by their ids they are the same records.
    list: async () =>
      (await transact('readonly', (store) => store.getAllKeys(IDBKeyRange.bound('n', 'o')))).map(
        (key) => (key as string).slice(1),
      ),
    read: async (name) => (await read(name)).join(''),
    append: (name, isNew, count, print) =>
      transact('readwrite', (store) => {
        const exists = store.getKey(`n${name}`)
        const sequence = store.get(sequenceKey) as IDBRequest<number | undefined>
        let isDone = false
        sequence.onsuccess = () => {
          isDone = isNew || !!exists.result
          if (!isDone) return
          const last = sequence.result || 0
          store.put(last + count, sequenceKey)
          store.put(1, `n${name}`)
          // In their order, also among the pieces of different visits.
          store.put(print(last + 1), pieceKey(name) + (Date.now() * 1000 + (pieces++ % 1000)))
        }
        return {
          get result() {
            return isDone
          },
        }
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
      // Another tab may have renamed it; then the text is that tab's.
      await ifExists(name, (store) => {
        store.delete(`n${name}`)
        store.delete(rangeOf(name))
      })
    },
    get: async (key) => (await read(key))[0],
    async set(key, value) {
      await transact('readwrite', (store) => {
        store.put(1, `n${key}`)
        return store.put(value, pieceKey(key))
      })
    },
    close: () => void database().then((opened) => opened.close()),
  }
}
