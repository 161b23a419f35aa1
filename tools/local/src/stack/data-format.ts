import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../supervisor/start-error.ts'
import { writePrivateJson } from './private-json.ts'

/** The format is increased when a version cannot use the data of earlier ones. */
const format = 3

const foldersWithData = ['redis', 'clickhouse', 's3']

/** @throws {StartError} if the directory has data of another format, or of an unknown one */
export function claimDataFormat(dataDir: string): void {
  const path = join(dataDir, 'format.json')
  const found = existsSync(path) ? readFormat(path) : undefined
  if (found === format) return
  const hasData = foldersWithData.some((name) => existsSync(join(dataDir, name)))
  if (found === undefined && !hasData) return writePrivateJson(path, { format })
  const elsewhere = 'move that folder away or delete it, or set INTAKE_DATA_DIR to another folder.'
  throw new StartError(
    found === undefined
      ? `The folder ${dataDir} has data but no format.json, so the version that wrote it is unknown: if you ` +
          `restored the data of this version, restore this file too ({"format":${format}}); otherwise ${elsewhere}`
      : `The data in ${dataDir} was written by another version of Intake and cannot be used by this one: ${elsewhere}`,
  )
}

function readFormat(path: string): unknown {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { format?: unknown }).format ?? null
  } catch {
    return null // an unreadable file counts as an unknown format
  }
}
