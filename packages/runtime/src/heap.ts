import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 start a major collection only when the heap has grown to five times what survived the
 * previous collection.
 *
 * By default V8 starts collections by elapsed time, not by the time in which the process is busy.
 * It therefore keeps the heap of a mostly idle process small, and collects so often that its helper
 * threads cost as much as the program (docs/decisions/0006-hot-path.md). The limit of the whole
 * heap still applies.
 */
export function setHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=400')
}
