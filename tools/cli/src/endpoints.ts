import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { endpointsFile, readSecret, SecretFileError } from '@intake/runtime'
import type { Endpoints } from '@intake/runtime/endpoints'

/** An error whose message is for the user. The command exits with code 1. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const variables = { REDIS_URL: 'redis', CLICKHOUSE_URL: 'clickhouse', S3_ENDPOINT: 's3' } as const
export type EndpointVariable = keyof typeof variables

/** Takes the URL from the variable, its `_FILE` or the stack; an error names all places. */
export async function findEndpoint(variable: EndpointVariable): Promise<string> {
  const given = readGiven()[variable]
  if (given !== undefined) return given
  const stack = await runningStack()
  if (stack !== undefined) return stack[variables[variable]]
  throw new UsageError(
    `${variable} is not set, and ${placeOfStack()} does not exist: start the services there with npm start, ` +
      `set INTAKE_DATA_DIR to their folder, or set ${variable} or ${variable}_FILE.`,
  )
}

/** @throws {UsageError} one error that names all files that cannot be read */
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
 * Does nothing if the environment has the URL of any service. `REDIS_URL_FILE` and the like are
 * read by the command itself, so it finds a URL that has changed.
 */
export async function adoptSettings(): Promise<void> {
  const { env } = process
  if (Object.keys(variables).some((name) => env[name] || env[`${name}_FILE`])) return
  // A command that needs a stack reports a file that cannot be read.
  const stack = await runningStack().catch(() => undefined)
  const settings = stack?.settings ?? {}
  for (const [name, value] of Object.entries(settings)) env[name] ||= value
}

/** Is undefined if no stack runs. Loads the schema of the file only if there is a file. */
export async function runningStack(): Promise<Endpoints | undefined> {
  if (!existsSync(placeOfStack())) return undefined
  const { readEndpoints } = await import('@intake/runtime/endpoints')
  return readEndpoints(dataDir())
}

/** The folder of the running stack's embedded ClickHouse, if it has this URL. */
export async function folderOfClickHouse(url: string): Promise<string | undefined> {
  const folder = resolve(dataDir(), 'clickhouse')
  const isEmbedded = (await runningStack())?.clickhouse === url && existsSync(folder)
  return isEmbedded ? folder : undefined
}

export const placeOfStack = (): string => resolve(endpointsFile(dataDir()))

const dataDir = () => process.env['INTAKE_DATA_DIR'] || '.intake'
