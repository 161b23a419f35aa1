// Forms, files and storage, which both React Native adapters provide to the client.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AsyncStorageLike, ReactNativeAttachment } from '../src/react-native/index.ts'
import type { SentAttachment } from './driver.ts'

export interface File {
  uri: string
  name: string
  type: string
}

/**
 * Builds a form from the parts of React Native's `FormData`. If a part refers to a file, reads the
 * file, as React Native does when it sends the form.
 */
export function formOf(parts: readonly [string, string | File][]): FormData {
  const form = new FormData()
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([readFileSync(value.uri)], { type: value.type }), value.name)
  }
  return form
}

/** Writes images into files, as an image picker does. */
export const pickImages = (attachments: readonly SentAttachment[]): ReactNativeAttachment[] =>
  attachments.map(({ base64, ...rest }, index) => {
    const uri = join(tmpdir(), `intake-picture-${process.pid}-${index}-${Date.now()}`)
    writeFileSync(uri, Buffer.from(base64, 'base64'))
    return { ...rest, uri }
  })

/**
 * Creates an AsyncStorage that keeps the value of each key in a file of this folder.
 *
 * @param hangsMs how long it responds to no call
 */
export function createFolderStorage(dir: string, hangsMs = 0): AsyncStorageLike {
  const storage = createStorage(dir)
  if (hangsMs === 0) return storage
  const working = new Promise<AsyncStorageLike>((resolve) => {
    setTimeout(() => resolve(storage), hangsMs).unref()
  })
  return {
    getItem: async (key) => (await working).getItem(key),
    setItem: async (key, value) => (await working).setItem(key, value),
    removeItem: async (key) => (await working).removeItem(key),
    getAllKeys: async () => (await working).getAllKeys(),
  }
}

function createStorage(dir: string): AsyncStorageLike {
  const pathOf = (key: string) => join(dir, encodeURIComponent(key))
  const isFile = (name: string) => !name.endsWith('~')
  return {
    async getItem(key) {
      return orIfAbsent(null, () => readFileSync(pathOf(key), 'utf8'))
    },
    async setItem(key, value) {
      mkdirSync(dir, { recursive: true })
      writeFileSync(`${pathOf(key)}~`, value)
      renameSync(`${pathOf(key)}~`, pathOf(key))
    },
    async removeItem(key) {
      rmSync(pathOf(key), { force: true })
    },
    async getAllKeys() {
      return orIfAbsent([], () => readdirSync(dir).filter(isFile).map(decodeURIComponent))
    },
  }
}

/** Runs a file operation; the result is `preset` if the file does not exist. */
function orIfAbsent<Result>(preset: Result, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (/ENOENT|ENOTDIR/.test(String(error))) return preset
    throw error
  }
}
