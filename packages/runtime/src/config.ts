import type { Static, TObject, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { ConfigError } from './config-error.ts'
import { readSecret, secretNames, traitsOf } from './secret-files.ts'
import { findUrlProblem, urlsIn } from './urls.ts'

/**
 * Reads settings from the environment, or secrets from the file that `NAME_FILE` names. An empty
 * variable counts as unset. Strings become numbers and booleans as the schema requires.
 *
 * `findProblems` of the schema returns a sentence for each contradiction of valid settings; a wrong
 * one has its default. It is not called while a required one is missing or invalid.
 *
 * @throws {ConfigError} one error for all problems
 */
export function loadConfig<S extends TObject>(
  schema: S,
  env: Record<string, string | undefined>,
): Static<S> {
  const secrets = new Set(secretNames(schema))
  const given: Record<string, string> = {}
  const unread = new Map<string, string>()
  for (const name of Object.keys(schema.properties)) {
    try {
      const value = secrets.has(name) ? readSecret(env, name) : env[name]
      if (value) given[name] = value
    } catch (error) {
      unread.set(name, (error as Error).message)
    }
  }
  const withDefaults = (values: Record<string, string>) =>
    Value.Convert(schema, Value.Default(schema, values)) as Record<string, unknown>
  const config = withDefaults(given)
  const { required = [], findProblems } = schema as {
    required?: readonly string[]
    findProblems?: (config: Static<S>) => string[]
  }
  const missing = required.filter((name) => !(name in config) && !unread.has(name))
  const invalid = Object.entries(config).flatMap(([name, value]) => {
    const problem = findProblem(schema, name, value)
    return problem === undefined ? [] : [{ name, problem: `${name} ${problem}` }]
  })
  for (const { name } of invalid) delete given[name]
  const checked = withDefaults(given)
  const contradictions = required.every((name) => name in checked)
    ? (findProblems?.(checked as Static<S>) ?? [])
    : []
  const problems = [
    ...unread.values(),
    ...(missing.length === 0 ? [] : [`${missing.join(', ')} must be set`]),
    ...invalid.map(({ problem }) => problem),
    ...Object.entries(checked).flatMap(
      ([name, value]) => traitsOf(schema, name).findProblems?.(String(value)) ?? [],
    ),
    ...contradictions,
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  return config as Static<S>
}

/** Returns the problem of a value as words after the setting's name; undefined if there is none. */
function findProblem(schema: TObject, name: string, value: unknown): string | undefined {
  const property = schema.properties[name] as TSchema & { anyOf?: readonly TSchema[] }
  const [error] = Value.Errors(property, value)
  if (error !== undefined) {
    const choices = (property.anyOf ?? []).flatMap((one) => ('const' in one ? [one.const] : []))
    if (choices.length > 0) return `must be one of ${choices.join(', ')}`
    return error.message
  }
  const traits = traitsOf(schema, name)
  return traits.hasCredentials ? findUrlProblem(urlsIn(traits, String(value))) : undefined
}

/** For the log: a secret becomes `set`, and a URL that may have credentials its host. */
export function describeConfig<S extends TObject>(
  schema: S,
  config: Static<S>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries<unknown>(config).map(([name, value]) => {
      const traits = traitsOf(schema, name)
      if (traits.writeOnly) return [name, 'set']
      if (!traits.hasCredentials) return [name, value]
      return [
        name,
        urlsIn(traits, String(value))
          .map((url) => new URL(url).host)
          .join(', '),
      ]
    }),
  )
}
