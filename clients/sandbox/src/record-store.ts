import type { RecordKind } from '@intake/contract'

/** The records of the sandbox: what the views would show, one record for each identity. */
export interface RecordStore {
  /**
   * Adds a finished row. If an earlier row has the same identity, only the count of acceptances
   * grows: the first version is kept, as in the tables.
   *
   * @param json one line of JSONEachRow
   */
  add(kind: RecordKind, json: string): void
  /** Undoes the latest acceptance of this log event, as if that attempt had been refused. */
  takeBack(id: string): void
  /** All records as JSON, in the order in which they were first accepted. */
  list(): Generator<string>
  count(): number
  /** The memory that the records use, estimated in bytes. */
  bytes(): number
  clear(): void
  /**
   * Resolves when there are at least `count` records, or after `timeoutMs`, or when `signal`
   * aborts.
   */
  untilCount(count: number, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>
}

interface StoredRecord {
  kind: RecordKind
  id: string
  json: string
  timesAccepted: number
}

/** Estimated memory of a record in addition to its JSON: map key, map entry and object. */
const overheadBytes = 300

export function createRecordStore(): RecordStore {
  const records = new Map<string, StoredRecord>()
  /** The functions to call after each addition. */
  const waiting = new Set<() => void>()
  let bytes = 0

  const bytesOf = ({ json }: StoredRecord) => json.length + overheadBytes

  return {
    add(kind, json) {
      const { id, key } = identityOf(kind, json)
      const known = records.get(key)
      if (known !== undefined) {
        known.timesAccepted++
        return
      }
      const record = { kind, id, json, timesAccepted: 1 }
      records.set(key, record)
      bytes += bytesOf(record)
      for (const check of waiting) check()
    },

    takeBack(id) {
      for (const [key, record] of records) {
        if (record.kind !== 'logs' || record.id !== id) continue
        record.timesAccepted--
        if (record.timesAccepted > 0) return
        records.delete(key)
        bytes -= bytesOf(record)
        return
      }
    },

    *list() {
      for (const { kind, json, timesAccepted } of records.values()) {
        const name = kind === 'logs' ? 'log' : 'feedback'
        yield `{"kind":"${name}","times_accepted":${timesAccepted},${json.slice(1)}`
      }
    },

    count: () => records.size,
    bytes: () => bytes,

    clear() {
      records.clear()
      bytes = 0
    },

    untilCount(count, { timeoutMs, signal }) {
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          waiting.delete(check)
          signal.removeEventListener('abort', end)
          resolve()
        }
        const check = () => {
          if (records.size >= count) end()
        }
        const timer = setTimeout(end, timeoutMs)
        waiting.add(check)
        signal.addEventListener('abort', end, { once: true })
        check()
      })
    },
  }
}

/** Returns the id of a row, and as `key` its kind and its sorting key in the table, as text. */
function identityOf(kind: RecordKind, json: string): { id: string; key: string } {
  const row = JSON.parse(json) as Record<
    'id' | 'time' | 'bundle_identifier' | 'device_uuid',
    string
  >
  const { id, time, bundle_identifier: bundle, device_uuid: device } = row
  return { id, key: JSON.stringify([kind, bundle, time, id, device.toLowerCase()]) }
}
