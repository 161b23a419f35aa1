import { stemOf } from '../core/entry-name.ts'
import type { Storage } from '../core/ports.ts'
import { createSerial, type Serial } from '../core/serial.ts'
import { optOutKey } from '../core/value-keys.ts'
import { nothing } from '../core/with-fallback.ts'
import { createKeys, type AsyncStorageLike, type Keys } from './async-keys.ts'

/**
 * Creates a storage in AsyncStorage. Its keys begin with `prefix`. The key `n<name>` says that a
 * name exists, and a value has the key `v<key>`. The text stored under a name is in pieces, with
 * the keys `t<stem>.<number>`. The stem is the part of the name that a rename does not change. When
 * a segment is closed, its pieces are joined under one key.
 *
 * A rename takes several steps: the new name is written, then the old name is removed. If both
 * exist after a crash, the generation and the state in the names show which one is newer.
 *
 * @param onDamaged called when a value cannot be parsed; the value is then treated as absent
 */
export function createAsyncStorage(
  storage: AsyncStorageLike,
  prefix: string,
  onDamaged: () => void = nothing,
): Storage {
  const keys = createKeys(storage, prefix)
  const { get, put, drop, forget, startingWith, serial } = keys
  const isThere = (name: string) => keys.has(`n${name}`)

  return {
    list: () =>
      serial(async () => {
        const names = await startingWith('n')
        const pieces = await startingWith('t')
        // A kill or a failure can leave a name without text, which would hide an older generation,
        // or text without a name, which nothing else would ever remove.
        const halves = names.filter(isMissingIn(pieces)).concat(pieces.filter(isMissingIn(names)))
        for (const key of halves) await drop(key).catch(nothing)
        return (await startingWith('n')).concat(await startingWith('v')).map((key) => key.slice(1))
      }),
    read: (name) => serial(() => readPieces(keys, name)),
    append: (name, isNew, count, print) =>
      serial(async () => {
        if (!isNew && !(await isThere(name))) return false
        const last = Number(await get('sequence')) || 0
        await put('sequence', String(last + count))
        const pieces = await startingWith(pieceStart(name))
        const number = pieces.length > 0 ? Number(pieces[pieces.length - 1]!.slice(-6)) + 1 : 0
        const piece = pieceKey(name, number)
        try {
          // The name comes first, so that another client of this app does not remove the piece.
          if (isNew) await put(`n${name}`, '1')
          await put(piece, print(last + 1))
        } catch (error) {
          await forget(piece)
          if (isNew) await drop(`n${name}`)
          await storage.removeItem(prefix + piece)
          // Nothing was stored with the numbers, so they are taken back.
          if ((await get('sequence')) === String(last + count)) await put('sequence', String(last))
          throw error
        }
        return true
      }),
    rename: (from, to) =>
      serial(async () => {
        if (!(await isThere(from))) return false
        await mergePieces(keys, from)
        await put(`n${to}`, '1')
        // The new name is stored, so an old name that stays makes no difference: of two names for
        // one text the newer one counts, and a name without text is removed.
        await drop(`n${from}`).catch(nothing)
        return true
      }),
    remove: (name) =>
      serial(async () => {
        await drop(`v${name}`)
        if (!(await isThere(name))) return
        // Keeps the pieces if another name still refers to them. A crash during a rename can leave
        // two names for the same pieces.
        const names = await startingWith(`n${stemOf(name)}.`)
        const pieces = names.length > 1 ? [] : await startingWith(pieceStart(name))
        // The first piece is the last to go, because without it the others cannot be parsed.
        while (pieces.length > 0) await drop(pieces.pop()!)
        await drop(`n${name}`)
      }),
    get: (key) =>
      serial(async () => {
        const text = await get(`v${key}`)
        if (text === null) return undefined
        const value = parse(text)
        if (value !== undefined) return value
        onDamaged()
        // The key `optOutKey` exists only after an `optOut`, so even if its value is damaged it
        // means that the user has opted out.
        return key === optOutKey || undefined
      }),
    set: (key, value, isNew) => setValue(keys, turnsOf(storage), { key, value, isNew }),
  }
}

const turns = new WeakMap<AsyncStorageLike, Serial>()

/** The clients of an app store a first value one after the other. */
function turnsOf(storage: AsyncStorageLike): Serial {
  const serial = turns.get(storage) || createSerial()
  turns.set(storage, serial)
  return serial
}

function setValue(
  { get, put, serial }: Keys,
  inTurn: Serial,
  { key, value, isNew }: { key: string; value: unknown; isNew: boolean | undefined },
): Promise<void> {
  const name = `v${key}`
  const text = JSON.stringify(value)
  if (!isNew) return serial(() => put(name, text))
  return inTurn(() =>
    serial(async () => {
      if (parse((await get(name)) || '') !== undefined) throw new Error('not new')
      await put(name, text)
    }),
  )
}

const pieceStart = (name: string) => `t${stemOf(name)}.`
const pieceKey = (name: string, number: number) => `${pieceStart(name)}${1_000_000 + number}`

async function readPieces({ get, startingWith }: Keys, name: string): Promise<string | undefined> {
  let text = ''
  for (const key of await startingWith(pieceStart(name))) text += (await get(key)) || ''
  return text || undefined
}

/** Joins the pieces of a text under the first of their keys. */
async function mergePieces(keys: Keys, name: string): Promise<void> {
  const { startingWith, put, drop } = keys
  const pieces = await startingWith(pieceStart(name))
  if (pieces.length < 2) return
  await put(pieces[0]!, (await readPieces(keys, name)) || '')
  for (const key of pieces.slice(1)) await drop(key)
}

/** Returns a function that says whether none of the keys has the stem of the given key. */
function isMissingIn(keys: readonly string[]): (key: string) => boolean {
  const stems = new Set(keys.map((key) => stemOf(key.slice(1))))
  return (key) => !stems.has(stemOf(key.slice(1)))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
