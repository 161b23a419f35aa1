import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '@intake/supervisor'
import { writePrivateJson } from './private-json.ts'

/** Of everything in a data directory. Grows when this version cannot use what earlier ones wrote. */
const format = 2

const foldersWithData = ['redis', 'clickhouse', 's3']

/**
 * Marks a data directory that holds no data yet with the format, and leaves one of this format alone.
 *
 * @throws {StartError} the data has another format
 */
export function claimDataFormat(dataDir: string): void {
  const path = join(dataDir, 'format.json')
  const found = existsSync(path) ? readFormat(path) : undefined
  if (found === format) return
  const hasData = foldersWithData.some((name) => existsSync(join(dataDir, name)))
  if (found === undefined && !hasData) return writePrivateJson(path, { format })
  throw new StartError(
    `The data in ${dataDir} was written by another version of Intake and cannot be used by this one: ` +
      'move that folder away or delete it, or set INTAKE_DATA_DIR to another folder.',
  )
}

function readFormat(path: string): unknown {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { format?: unknown }).format ?? null
  } catch {
    return null // unreadable is no format that this version knows
  }
}
