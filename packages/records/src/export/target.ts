import { hash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ObjectStore } from '@intake/object-store'

/** Where an export goes. Paths have `/` and are relative to the target. */
export interface ExportTarget {
  /** Resolves when the file is stored completely. An existing file is replaced as a whole. */
  write(path: string, bytes: Buffer): Promise<void>
  /** Resolves to undefined if there is no such file. */
  read(path: string): Promise<Buffer | undefined>
  remove(path: string): Promise<void>
  /** The names of the files of a folder, none if there is no such folder. */
  list(folder: string): Promise<string[]>
}

/** A folder. A file gets its name only when it is on the disk. */
export function createFolderTarget(path: string): ExportTarget {
  const root = resolve(path)
  return {
    async write(name, bytes) {
      const file = join(root, name)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      // Exporters that begin at the same moment share none.
      const part = `${file}.${randomUUID()}.part`
      await writeFile(part, bytes, { mode: 0o600, flush: true })
      await rename(part, file)
      const folder = await open(dirname(file))
      try {
        await folder.sync()
      } finally {
        await folder.close()
      }
    },
    read: (name) => readFile(join(root, name)).catch(absent),
    remove: (name) => rm(join(root, name), { force: true }),
    list: async (folder) => (await readdir(join(root, folder)).catch(absent)) ?? [],
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

export function createBucketTarget(objects: ObjectStore, prefix: string): ExportTarget {
  const base = prefix.endsWith('/') ? prefix : `${prefix}/`
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
      const start = `${base}${folder}/`
      const names: string[] = []
      for await (const key of objects.list(start)) names.push(key.slice(start.length))
      return names
    },
  }
}

export const encode = (value: unknown): Buffer =>
  Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`)

export async function readJson<T>(target: ExportTarget, path: string): Promise<T | undefined> {
  const bytes = await target.read(path)
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as T)
}
