import { chmodSync, mkdirSync } from 'node:fs'

/**
 * Creates a folder for an engine that no other user of the machine can enter. Removes those rights
 * from an existing folder. Only for folders that nothing else uses.
 */
export function makePrivateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
}
