import { resolve } from 'node:path'
import { clickhouseCluster, clickhouseUrl } from '@intake/config'
import {
  endpointsFile,
  loadConfig,
  readEndpoints,
  readSecret,
  SecretFileError,
  type Endpoints,
} from '@intake/runtime'
import { Type } from 'typebox'

/** The message is for the user; the command exits with code 1. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const variables = { REDIS_URL: 'redis', CLICKHOUSE_URL: 'clickhouse', S3_ENDPOINT: 's3' } as const
export type EndpointVariable = keyof typeof variables

/**
 * The URL of a service: from the environment or the file that it names, or else from the running stack.
 *
 * @throws {UsageError} names what it looked for when it finds none, and every file that cannot be read
 */
export function findEndpoint(variable: EndpointVariable): string {
  const given = readGiven()[variable]
  if (given !== undefined) return given
  const stack = runningStack()
  if (stack !== undefined) return stack[variables[variable]]
  throw new UsageError(
    `${variable} is not set, and ${placeOfStack()} does not exist: start the services there with npm start, ` +
      `set INTAKE_DATA_DIR to their folder, or set ${variable} or ${variable}_FILE.`,
  )
}

/**
 * The URLs that the environment or its files contain.
 *
 * @throws {UsageError} one error for all files
 */
function readGiven(): Partial<Record<EndpointVariable, string | undefined>> {
  const problems: string[] = []
  const read = (name: string) => {
    try {
      return readSecret(process.env, name)
    } catch (error) {
      if (!(error instanceof SecretFileError)) throw error
      problems.push(error.message)
      return undefined
    }
  }
  const given = Object.fromEntries(Object.keys(variables).map((name) => [name, read(name)]))
  if (problems.length > 0) throw new UsageError(`${problems.join('; ')}.`)
  return given
}

/**
 * Takes the settings of the running stack for what the environment does not set, unless it names services of its own. A file
 * with a URL that has changed since then counts.
 */
export function adoptSettings(): void {
  const { env } = process
  if (Object.keys(variables).some((name) => env[name] || env[`${name}_FILE`])) return
  for (const [name, value] of Object.entries(findStack()?.settings ?? {})) env[name] ||= value
}

/** Undefined also when its file cannot be read: a command that needs it says why. */
function findStack(): Endpoints | undefined {
  try {
    return runningStack()
  } catch {
    return undefined
  }
}

/** The endpoints of the stack that runs on INTAKE_DATA_DIR; undefined when none does. */
export const runningStack = (): Endpoints | undefined => readEndpoints(dataDir())

/** The file that has them. */
export const placeOfStack = (): string => resolve(endpointsFile(dataDir()))

const dataDir = () => process.env['INTAKE_DATA_DIR'] || '.intake'

const ClickHouseConfig = Type.Object({
  CLICKHOUSE_URL: clickhouseUrl,
  CLICKHOUSE_CLUSTER: Type.Optional(clickhouseCluster),
})

/**
 * Where the tables are.
 *
 * @throws {UsageError} like `findEndpoint`
 * @throws {ConfigError} one error for all problems of these settings
 */
export function findClickHouse(): { url: string; cluster: string | undefined } {
  const { CLICKHOUSE_URL: url, CLICKHOUSE_CLUSTER: cluster } = loadConfig(ClickHouseConfig, {
    CLICKHOUSE_URL: findEndpoint('CLICKHOUSE_URL'),
    CLICKHOUSE_CLUSTER: process.env['CLICKHOUSE_CLUSTER'],
  })
  return { url, cluster }
}
