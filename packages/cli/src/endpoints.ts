import { endpointsFile, readEndpoints } from '@intake/runtime'

/** The message is for the user; the command exits with code 1. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const variables = { REDIS_URL: 'redis', CLICKHOUSE_URL: 'clickhouse', S3_ENDPOINT: 's3' } as const
export type EndpointVariable = keyof typeof variables

/** The URL of a service: from the environment, or else from the file of the running stack. */
export function findEndpoint(variable: EndpointVariable): string {
  const given = process.env[variable]
  if (given) return given
  const dataDir = process.env['INTAKE_DATA_DIR'] || '.intake'
  const endpoints = readEndpoints(dataDir)
  if (endpoints !== undefined) return endpoints[variables[variable]]
  throw new UsageError(
    `Set ${variable}, or start the services with npm start (there is no ${endpointsFile(dataDir)}).`,
  )
}
