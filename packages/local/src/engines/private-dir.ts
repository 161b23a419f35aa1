import { chmodSync, mkdirSync } from 'node:fs'

/**
 * Creates a folder that only this user can enter, for an engine. If the folder exists, removes the
 * rights of other users. Use it only for folders that no other program uses.
 */
export function makePrivateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
}
