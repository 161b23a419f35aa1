import { resolve } from 'node:path'
import { endpointsFile, readEndpoints, type Endpoints } from '@intake/runtime'

/** The message is for the user; the command exits with code 1. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const variables = { REDIS_URL: 'redis', CLICKHOUSE_URL: 'clickhouse', S3_ENDPOINT: 's3' } as const
export type EndpointVariable = keyof typeof variables

/**
 * The URL of a service: from the environment, or else from the file of the running stack.
 *
 * @throws {UsageError} names what it looked for when it finds neither
 */
export function findEndpoint(variable: EndpointVariable): string {
  const given = process.env[variable]
  if (given) return given
  const stack = runningStack()
  if (stack !== undefined) return stack[variables[variable]]
  throw new UsageError(
    `${variable} is not set, and ${placeOfStack()} does not exist: start the services there with npm start, ` +
      `set INTAKE_DATA_DIR to their folder, or set ${variable}.`,
  )
}

/** The endpoints of the stack that runs on INTAKE_DATA_DIR; undefined when none does. */
export const runningStack = (): Endpoints | undefined => readEndpoints(dataDir())

/** The file that has them. */
export const placeOfStack = (): string => resolve(endpointsFile(dataDir()))

const dataDir = () => process.env['INTAKE_DATA_DIR'] || '.intake'

/**
 * Where the tables are.
 *
 * @throws {UsageError} like `findEndpoint`
 */
export const findClickHouse = () => ({
  url: findEndpoint('CLICKHOUSE_URL'),
  cluster: process.env['CLICKHOUSE_CLUSTER'] || undefined,
})

/** Where the attachments are. */
export const findBucket = () => ({
  endpoint: findEndpoint('S3_ENDPOINT'),
  bucket: process.env['S3_BUCKET'] || 'intake',
  region: process.env['S3_REGION'] || 'us-east-1',
})
