import { appendFileSync, constants, existsSync, mkdirSync } from 'node:fs'
import type { Dirent, PathLike } from 'node:fs'
import { link, mkdir, open, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Storage } from '../core/ports.ts'
import { optOutKey } from '../core/value-keys.ts'
import { nothing } from '../core/with-fallback.ts'
import {
  isSegment,
  isTemporary,
  isValue,
  keyOfValue,
  temporaryName,
  valueName,
} from './file-names.ts'
import { endRun, isOfLiveProcess, keepRun } from './runs.ts'
import { openSequence, type Sequence } from './sequence.ts'

export interface FileStorage extends Storage {
  /**
   * Appends when the process exits, perhaps while an asynchronous append is running. If both
   * appends write the same events, the file contains them twice. The server recognizes the repeats
   * by their ids.
   */
  appendSync(name: string, text: string): void
  /** Whether a segment has a file. */
  existsSync(name: string): boolean
  /** Reserves sequence numbers; returns the first one, or 0 if that failed. */
  reserve(count: number): number
  /** Lets other clients take over the files of this client. */
  close(): void
}

/** The number of files that the clients of this thread have begun to write. */
let written = 0

/**
 * Stores each segment and each value in a file of a directory. When a call resolves, appended text
 * and new names are on disk. A new name may be an exception if the directory could not be synced,
 * for example for want of file descriptors. A new file is first written under a temporary name, so
 * that after a kill it is either complete or absent.
 *
 * @param onDamaged called when the file of a value cannot be parsed; the value is then treated as
 *   absent
 */
export function createFileStorage(dir: string, onDamaged: () => void = nothing): FileStorage {
  const sequence = openSequence(dir)
  const runs = new Set<string>()
  const pathOf = (name: string) => join(dir, name)

  return {
    async list() {
      const entries = await readdir(dir, { withFileTypes: true }).catch(orIfAbsent<Dirent[]>([]))
      const names = entries
        .filter((entry) => entry.isFile() && !isOfLiveProcess(entry.name))
        .map((entry) => entry.name)
      // Removes the temporary files of ended processes.
      for (const name of names.filter(isTemporary))
        await unlink(pathOf(name)).catch(orIfAbsent(undefined))
      return [...names.filter(isSegment), ...names.filter(isValue).map(keyOfValue)]
    },
    read: (name) => readFile(pathOf(name), 'utf8').catch(orIfAbsent(undefined)),
    async append(name, isNew, count, print) {
      runs.add(keepRun(name))
      if (isNew) {
        const first = sequence.reserve(count)
        try {
          await createFile(dir, name, print(first))
        } catch (error) {
          sequence.takeBack(first, count)
          throw error
        }
        return true
      }
      return appendTo(pathOf(name), sequence, { count, print })
    },
    async rename(from, to) {
      const done = await rename(pathOf(from), pathOf(to)).then(() => true, orIfAbsent(false))
      if (done) await syncDirectory(dir)
      return done
    },
    async remove(name) {
      await unlink(pathOf(name)).catch(orIfAbsent(undefined))
      await unlink(pathOf(valueName(name))).catch(orIfAbsent(undefined))
    },
    async get(key) {
      const value = await readFile(pathOf(valueName(key))).catch(orIfAbsent(undefined))
      if (value === undefined) return undefined
      const decoded = decodeValue(value)
      if (decoded !== undefined) return decoded
      onDamaged()
      // The file of `optOutKey` exists only after an `optOut`, so even if its content is damaged it
      // means that the user has opted out.
      return key === optOutKey || undefined
    },
    async set(key, value, isNew) {
      const name = valueName(key)
      // A damaged file is no value, and is replaced.
      const mayReplace =
        !isNew || (existsSync(pathOf(name)) && !decodeValue(await readFile(pathOf(name))))
      await createFile(dir, name, encodeValue(value), mayReplace ? rename : renameIfFree)
    },
    appendSync(name, text) {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      appendFileSync(pathOf(name), text, { mode: 0o600, flush: true })
    },
    existsSync: (name) => existsSync(pathOf(name)),
    reserve: sequence.reserve,
    close() {
      for (const run of runs) endRun(run)
    },
  }
}

/**
 * Creates a file by renaming a temporary one. Creates the directory too, because someone may have
 * removed it.
 */
async function createFile(
  dir: string,
  name: string,
  data: string | Uint8Array,
  giveName: typeof rename = rename,
): Promise<void> {
  const temporary = join(dir, temporaryName(name, written++))
  await mkdir(dir, { recursive: true, mode: 0o700 })
  try {
    await writeFile(temporary, data, { flush: true, mode: 0o600 })
    await giveName(temporary, join(dir, name))
  } catch (error) {
    await unlink(temporary).catch(orIfAbsent(undefined))
    throw error
  }
  await syncDirectory(dir)
}

/** Rejects with `EEXIST` if the name is taken. A file system without links cannot tell. */
async function renameIfFree(from: PathLike, to: PathLike): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    return rename(from, to)
  }
  await unlink(from)
}

/** See `Storage.append`, for a file that exists. */
async function appendTo(
  path: string,
  sequence: Sequence,
  { count, print }: { count: number; print: (first: number) => string },
): Promise<boolean> {
  const { O_APPEND, O_WRONLY } = constants
  const file = await open(path, O_APPEND | O_WRONLY).catch(orIfAbsent(undefined))
  if (file === undefined) return false
  try {
    const { size } = await file.stat()
    const first = sequence.reserve(count)
    try {
      await file.appendFile(print(first))
      await file.datasync()
    } catch (error) {
      await file.truncate(size)
      await file.close()
      // This call is last, so that the queue renumbers the events before other code runs.
      sequence.takeBack(first, count)
      throw error
    }
  } finally {
    await file.close()
  }
  return true
}

/**
 * Encodes a value as JSON in which byte arrays are replaced by their lengths; the bytes follow the
 * JSON.
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

/** Decodes the file of a value; undefined if the file is damaged: for example, if it is empty. */
function decodeValue(file: Buffer): unknown {
  const end = file.indexOf(10)
  let from = end + 1
  try {
    return JSON.parse(file.toString('utf8', 0, end), (_, inner: unknown) => {
      const length = Object(inner)[bytesMark] as unknown
      if (typeof length !== 'number') return inner
      from += length
      return file.subarray(from - length, from)
    })
  } catch {
    return undefined
  }
}

/**
 * In the JSON, an object with this property stands for a byte array. No value of the client has
 * such a property.
 */
const bytesMark = '$bytes'

/**
 * Makes the new names in a directory survive a power failure. Windows has no call for this. Never
 * rejects, because the names exist in any case.
 */
async function syncDirectory(dir: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(dir, 'r').catch(nothing)
  await directory?.sync().catch(nothing)
  await directory?.close()
}

/**
 * Returns a handler for a rejected file operation. It returns `preset` if the file does not exist,
 * and throws any other error.
 */
const orIfAbsent =
  <Preset>(preset: Preset) =>
  (error: NodeJS.ErrnoException): Preset => {
    // ENOTDIR means that a part of the path is a file, not a directory, so no record is stored
    // there.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return preset
    throw error
  }
