import { setFlagsFromString } from 'node:v8'

/**
 * Lets the heap of this process grow to five times what was alive after a major collection before
 * the next one.
 *
 * V8 weighs collections against the time that passes, not against the time a process works: of one
 * that waits most of its time it keeps the heap small, and collects so often that its helper threads
 * cost as much as the program (docs/decisions/0006-hot-path.md). The limit of the whole heap still
 * holds.
 */
export function setHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=400')
}
