import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The message is for the user; the command exits with code 1. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const variables = { REDIS_URL: 'redis', CLICKHOUSE_URL: 'clickhouse', S3_ENDPOINT: 's3' } as const
export type EndpointVariable = keyof typeof variables

/** The URL of a service: from the environment, or else from the file of the running stack. */
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
