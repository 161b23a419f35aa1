import { createProcess, type Part } from './world.ts'

/** The images, at most one for each record. An image is kept until it is removed. */
export interface ObjectStore extends Part {
  put(id: string): void
  remove(id: string): void
  has(id: string): boolean
}

export function createObjectStore(): ObjectStore {
  const objects = new Set<string>()
  return {
    process: createProcess('s3'),
    start() {},
    put: (id) => void objects.add(id),
    remove: (id) => void objects.delete(id),
    has: (id) => objects.has(id),
  }
}
