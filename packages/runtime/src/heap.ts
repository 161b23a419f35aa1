import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 start a major collection only when the heap is five times what survived the previous
 * one. By default it counts elapsed, not busy time, and collects so often in a mostly idle process
 * that its helper threads cost as much as the program (docs/decisions/0006-hot-path.md). The limit
 * of the whole heap still applies.
 */
export function setHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=400')
}
