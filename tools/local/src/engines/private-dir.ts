import { chmodSync, mkdirSync } from 'node:fs'

/**
 * Creates a folder for an engine. Only this user can enter the folder. If the folder exists, other
 * users lose their rights to it, so it must not be a folder that other programs use.
 */
export function makePrivateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
}
