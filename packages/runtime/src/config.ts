import type { Static, TObject } from 'typebox'
import { Value } from 'typebox/value'

/** Names every setting that is missing or invalid, but no value: values can be secrets. */
export class ConfigError extends Error {
  override name = 'ConfigError'
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
  if (Value.Check(schema, config)) return config
  const problems = [...Value.Errors(schema, config)].map((error) =>
    'requiredProperties' in error.params
      ? `${error.params.requiredProperties.join(', ')} must be set`
      : `${error.instancePath.slice(1)} ${error.message}`,
  )
  throw new ConfigError(`configuration: ${problems.join('; ')}`)
}
