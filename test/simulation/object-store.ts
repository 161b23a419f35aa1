import { createProcess, type Part } from './world.ts'

/** The images in the store. An image is kept until it is removed. */
export interface ObjectStore extends Part {
  put(key: string): void
  remove(key: string): void
  has(key: string): boolean
}

export function createObjectStore(): ObjectStore {
  const objects = new Set<string>()
  return {
    process: createProcess('s3'),
    start() {},
    put: (key) => void objects.add(key),
    remove: (key) => void objects.delete(key),
    has: (key) => objects.has(key),
  }
}
