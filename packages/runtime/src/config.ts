import type { Static, TObject } from 'typebox'
import { Value } from 'typebox/value'

/** Names every setting that is missing or invalid, but no value: values can be secrets. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`configuration: ${problems.join('; ')}`)
    this.problems = problems
  }
}

/**
 * Reads the settings that `schema` defines from the environment. An empty variable counts as unset;
 * defaults come from the schema; strings become numbers and booleans as the schema requires.
 *
 * @throws {ConfigError} one error for all problems
 */
export function loadConfig<S extends TObject>(
  schema: S,
  env: Record<string, string | undefined>,
): Static<S> {
  const given = Object.fromEntries(
    Object.keys(schema.properties).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  const config = Value.Convert(schema, Value.Default(schema, given))
  if (!Value.Check(schema, config)) {
    throw new ConfigError(
      [...Value.Errors(schema, config)].map((error) =>
        'requiredProperties' in error.params
          ? `${error.params.requiredProperties.join(', ')} must be set`
          : `${error.instancePath.slice(1)} ${error.message}`,
      ),
    )
  }
  const misread = Object.entries<unknown>(config).filter(
    ([name, value]) =>
      traitsOf(schema, name).hasCredentials && !splitUrls(String(value)).every(isUrl),
  )
  if (misread.length === 0) return config
  throw new ConfigError(
    misread.map(
      ([name]) => `${name} must be a URL whose user and password are percent-encoded ("/" is %2F)`,
    ),
  )
}

/** How a schema marks what must not be shown. */
interface Traits {
  /** A secret. */
  writeOnly?: boolean
  /** A URL that may contain a user and a password. */
  hasCredentials?: boolean
}

const traitsOf = (schema: TObject, name: string): Traits => schema.properties[name] as Traits

/** The URLs of a list. A comma may also be part of a password, so only one before a URL separates. */
export const splitUrls = (list: string): string[] => list.split(/,\s*(?=\w+:\/\/)/)

/** A character that should be encoded ends the host too early; the rest of the password is then taken for a path. */
function isUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { username, password } = new URL(value)
  return !value.includes('@') || username !== '' || password !== ''
}

/** The settings as they may be logged: of secrets that they are set, of URLs with credentials the host. */
export function describeConfig<S extends TObject>(
  schema: S,
  config: Static<S>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries<unknown>(config).map(([name, value]) => {
      const { writeOnly, hasCredentials } = traitsOf(schema, name)
      if (writeOnly) return [name, 'set']
      return [name, hasCredentials ? hostsOf(String(value)) : value]
    }),
  )
}

const hostsOf = (list: string) =>
  splitUrls(list)
    .map((url) => new URL(url).host)
    .join(', ')
