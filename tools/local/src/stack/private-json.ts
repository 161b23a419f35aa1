import { renameSync, writeFileSync } from 'node:fs'

/** Only its owner can read the file. A reader sees the old or the new content, never a mixture. */
export function writePrivateJson(path: string, value: unknown): void {
  const next = `${path}.${process.pid}.new`
  writeFileSync(next, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(next, path)
}
