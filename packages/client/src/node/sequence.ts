import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, open, readFile } from 'node:fs/promises'
import { constants } from 'node:fs'
import { join, resolve } from 'node:path'
import { createSerial } from '../core/serial.ts'
import { orIfAbsent } from './or-if-absent.ts'

/** The counter of a directory, in the file `sequence`. */
export interface Sequence {
  /** Reserves numbers; resolves to the first one. */
  reserve(count: number): Promise<number>
  /**
   * Takes back numbers with which nothing was stored. Has no effect if other numbers were reserved
   * after them.
   */
  takeBack(first: number, count: number): void
  /** Reserves numbers when the process exits; returns the first one, or 0 if that failed. */
  reserveSync(count: number): number
  close(): void
}

interface Counter {
  last?: number
  users: number
  serial: ReturnType<typeof createSerial>
}

/** The counters by directory. The clients of one directory in this thread share its counter. */
const counters = new Map<string, Counter>()
const digits = 16

/** Opens the counter of a directory. Its file is read at the first use. */
export function openSequence(dir: string): Sequence {
  const path = join(dir, 'sequence')
  const key = resolve(path)
  const counter = counters.get(key) ?? { users: 0, serial: createSerial() }
  counters.set(key, counter)
  counter.users++

  function take(count: number): number {
    const last = counter.last ?? 0
    counter.last = last + count
    return last + 1
  }

  function takeBack(first: number, count: number): void {
    if (counter.last === first + count - 1) counter.last = first - 1
  }

  const text = () => String(counter.last).padStart(digits, '0')

  return {
    reserve: (count) =>
      counter.serial(async () => {
        counter.last ??= Number(await readFile(path, 'utf8').catch(orIfAbsent('0'))) || 0
        await mkdir(dir, { recursive: true, mode: 0o700 })
        // The file is not synced to disk. It survives the end of the process, but after a power
        // failure numbers may be used twice.
        const file = await open(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
        const first = take(count)
        try {
          await file.write(text(), 0)
        } catch (error) {
          takeBack(first, count)
          throw error
        } finally {
          await file.close()
        }
        return first
      }),
    takeBack,
    reserveSync(count) {
      try {
        mkdirSync(dir, { recursive: true, mode: 0o700 })
        counter.last ??= readLast(path)
        const first = take(count)
        writeFileSync(path, text(), { mode: 0o600 })
        return first
      } catch {
        return 0
      }
    },
    close() {
      // Forgets the counter after its last user in this thread. Another process may then increase
      // the counter in the file, so the next user must read the file again.
      if (--counter.users === 0) counters.delete(key)
    },
  }
}

function readLast(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8')) || 0
  } catch (error) {
    return orIfAbsent(0)(error as NodeJS.ErrnoException)
  }
}
