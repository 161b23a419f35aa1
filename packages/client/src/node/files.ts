import { appendFileSync, constants, mkdirSync, type Dirent } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Storage } from '../core/ports.ts'

const sequenceFile = 'sequence'
const valueEnd = '.value'
const temporaryEnd = '.new'
const digits = 16

export interface FileStorage extends Storage {
  /**
   * Appends when the process exits, perhaps while an asynchronous append is running. If both write
   * the same events, these are stored twice, and recognised by their ids.
   */
  appendSync(name: string, text: string): void
}

/**
 * Stores each segment and each value in a file of a directory. Text that was appended, and new
 * names, are on disk when the call resolves.
 */
export function createFileStorage(dir: string): FileStorage {
  let sequence: number | undefined
  let made: Promise<unknown> | undefined
  const pathOf = (name: string) => join(dir, name)
  const make = () => (made ??= mkdir(dir, { recursive: true, mode: 0o700 }))

  /** Reserves numbers; resolves to the first one. */
  async function reserve(count: number): Promise<number> {
    sequence ??= Number(await readFile(pathOf(sequenceFile), 'utf8').catch(() => '0')) || 0
    const first = sequence + 1
    sequence += count
    // The counter survives the end of the process without fsync. After a power failure, numbers may
    // be used twice.
    const file = await open(pathOf(sequenceFile), constants.O_WRONLY | constants.O_CREAT, 0o600)
    try {
      await file.write(String(sequence).padStart(digits, '0'), 0)
    } finally {
      await file.close()
    }
    return first
  }

  return {
    async list() {
      const entries = await readdir(dir, { withFileTypes: true }).catch(orIfAbsent<Dirent[]>([]))
      return entries
        .filter((entry) => entry.isFile() && !entry.name.endsWith(temporaryEnd))
        .map(({ name }) => (name.endsWith(valueEnd) ? name.slice(0, -valueEnd.length) : name))
        .filter((name) => !isRunning(Number(name.split(pidMark)[1]?.split('.')[0])))
    },
    read: (name) => readFile(pathOf(name), 'utf8').catch(orIfAbsent(undefined)),
    async append(name, isNew, count, print) {
      await make()
      const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants
      const flags = O_WRONLY | O_APPEND | (isNew ? O_CREAT | O_EXCL : 0)
      const file = await open(pathOf(name), flags, 0o600).catch(orIfAbsent(undefined))
      if (file === undefined) return false
      try {
        await file.appendFile(print(await reserve(count)))
        await file.datasync()
      } finally {
        await file.close()
      }
      if (isNew) await syncDirectory(dir)
      return true
    },
    async rename(from, to) {
      const done = await rename(pathOf(from), pathOf(to)).then(() => true, orIfAbsent(false))
      if (done) await syncDirectory(dir)
      return done
    },
    async remove(name) {
      await unlink(pathOf(name)).catch(orIfAbsent(undefined))
      await unlink(pathOf(name + valueEnd)).catch(orIfAbsent(undefined))
    },
    async get(key) {
      const value = await readFile(pathOf(key + valueEnd)).catch(orIfAbsent(undefined))
      return value && decodeValue(value)
    },
    async set(key, value) {
      const path = pathOf(key + valueEnd)
      await make()
      await writeFile(path + temporaryEnd, encodeValue(value), { flush: true, mode: 0o600 })
      await rename(path + temporaryEnd, path)
      await syncDirectory(dir)
    },
    appendSync(name, text) {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      appendFileSync(pathOf(name), text, { mode: 0o600, flush: true })
    },
  }
}

/**
 * Encodes a value as JSON in which byte arrays are replaced by their lengths; the bytes follow it.
 */
function encodeValue(value: unknown): Uint8Array {
  const bytes: Uint8Array[] = []
  const text = JSON.stringify(value, (_, inner: unknown) => {
    if (!(inner instanceof Uint8Array)) return inner
    bytes.push(inner)
    return { [bytesMark]: inner.length }
  })
  return Buffer.concat([Buffer.from(`${text}\n`), ...bytes])
}

function decodeValue(file: Buffer): unknown {
  const end = file.indexOf(10)
  let from = end + 1
  return JSON.parse(file.toString('utf8', 0, end), (_, inner: unknown) => {
    const length = Object(inner)[bytesMark] as unknown
    if (typeof length !== 'number') return inner
    from += length
    return file.subarray(from - length, from)
  })
}

/** Marks a byte array. No value of the client has this property. */
const bytesMark = '$bytes'

/** An image in its stored form. */
export interface FileAttachment {
  name: string
  type: string
  data: Uint8Array
}

/** Makes new names durable. Windows has no such call. */
async function syncDirectory(dir: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(dir, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

const orIfAbsent =
  <Preset>(preset: Preset) =>
  (error: NodeJS.ErrnoException): Preset => {
    if (error.code === 'ENOENT') return preset
    throw error
  }

/** Before the id of the process in the name of a run. */
export const pidMark = '-pid'

/** A process that reuses the id of an ended one keeps its records until it ends, too. */
function isRunning(pid: number): boolean {
  if (!pid || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
