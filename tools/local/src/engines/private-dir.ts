import { chmodSync, mkdirSync } from 'node:fs'

/** Other users lose their rights to the folder, so other programs must not use it. */
export function makePrivateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
}
