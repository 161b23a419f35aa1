import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A sentence for the user; the command ends with exit code 1. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const variables = { REDIS_URL: 'redis', CLICKHOUSE_URL: 'clickhouse', S3_ENDPOINT: 's3' } as const
export type EndpointVariable = keyof typeof variables

/** Where a service is: as the environment says, else as the running stack has written it down. */
export async function findEndpoint(variable: EndpointVariable): Promise<string> {
  const given = process.env[variable]
  if (given) return given
  const file = join(process.env['INTAKE_DATA_DIR'] || '.intake', 'endpoints.json')
  try {
    const endpoints = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>
    const found = endpoints[variables[variable]]
    if (found !== undefined) return found
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  throw new UsageError(
    `Set ${variable}, or start the services with npm start (there is no ${file}).`,
  )
}
