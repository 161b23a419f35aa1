import { chmodSync, mkdirSync } from 'node:fs'

/**
 * Creates a folder for an engine that only this user can enter. If the folder exists, removes the
 * rights of other users, so the folder must not be one that other programs use.
 */
export function makePrivateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
}
