import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ObjectStore } from '@intake/object-store'
import { hash, randomUUID } from 'node:crypto'

/** Where an export goes. Paths have `/` and are relative to the target. */
export interface ExportTarget {
  /** Resolves when the file is stored completely. An existing file is replaced as a whole. */
  write(path: string, bytes: Buffer): Promise<void>
  /** Resolves to undefined if there is no such file. */
  read(path: string): Promise<Buffer | undefined>
  remove(path: string): Promise<void>
  list(folder: string): Promise<string[]>
}

/** Files that are not written completely. Exporters that begin at the same moment share none. */
export const partsPath = 'parts'

/** A folder. A file gets its name only when it is on the disk. */
export function createFolderTarget(path: string): ExportTarget {
  const root = resolve(path)
  return {
    async write(name, bytes) {
      const [file, part] = [join(root, name), join(root, partsPath, randomUUID())]
      const makeFolder = (of: string) => mkdir(dirname(of), { recursive: true, mode: 0o700 })
      await Promise.all([file, part].map(makeFolder))
      try {
        await writeFile(part, bytes, { mode: 0o600, flush: true })
        await rename(part, file)
      } catch (error) {
        await rm(part, { force: true })
        throw error
      }
      const folder = await open(dirname(file))
      try {
        await folder.sync()
      } finally {
        await folder.close()
      }
    },
    read: (name) => readFile(join(root, name)).catch(absent),
    remove: (name) => rm(join(root, name), { force: true, recursive: true }),
    list: async (folder) => (await readdir(join(root, folder)).catch(absent)) ?? [],
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

export function createBucketTarget(objects: ObjectStore, prefix: string): ExportTarget {
  const base = prefix.endsWith('/') || prefix === '' ? prefix : `${prefix}/`
  return {
    write: (name, body) =>
      objects.put({
        key: `${base}${name}`,
        body,
        contentType: name.endsWith('.json') ? 'application/json' : 'application/octet-stream',
        sha256: hash('sha256', body),
      }),
    read: (name) => objects.get(`${base}${name}`),
    remove: (name) => objects.remove([`${base}${name}`]),
    async list(folder) {
      const start = folder === '' ? base : `${base}${folder}/`
      const names = new Set<string>()
      for await (const key of objects.list(start)) {
        names.add(key.slice(start.length).split('/')[0] ?? '')
      }
      return [...names]
    },
  }
}

export const encode = (value: unknown): Buffer =>
  Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`)

export async function readJson<T>(target: ExportTarget, path: string): Promise<T | undefined> {
  const bytes = await target.read(path)
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as T)
}
