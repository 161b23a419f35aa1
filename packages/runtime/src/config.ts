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
    ([name, value]) => traitsOf(schema, name).hasCredentials && !isUrl(String(value)),
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

/** A character that should be encoded ends the host too early; the rest of the password is then taken for a path. */
function isUrl(value: string): boolean {
  return urlPerHost(value).every((url) => {
    if (!URL.canParse(url)) return false
    const { username, password } = new URL(url)
    return !url.includes('@') || username !== '' || password !== ''
  })
}

/** A URL can name several hosts, `redis+cluster://user:password@host,host`: one for each. */
function urlPerHost(value: string): string[] {
  const [, head = '', hosts = '', rest = ''] =
    /^([^:]*:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^]*)$/.exec(value) ?? []
  return hosts.includes(',') ? hosts.split(',').map((host) => head + host + rest) : [value]
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
      if (!hasCredentials) return [name, value]
      return [
        name,
        urlPerHost(String(value))
          .map((url) => new URL(url).host)
          .join(),
      ]
    }),
  )
}
