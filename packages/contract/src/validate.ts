import { Type, type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { IntakeError, type FieldError } from './errors.ts'
import { expectations } from './schemas/fields.ts'

/**
 * Returns the value unchanged if it matches. `root` is prepended to the JSON pointers of errors.
 *
 * @throws {IntakeError} `invalid_request`
 */
export type Validator<T> = (value: unknown, root?: string) => T

const errorsMax = 20

/** Compiles a schema once. The validator reports at most 20 invalid fields. */
export function compileSchema<S extends TSchema>(schema: S): Validator<Static<S>> {
  const compiled = Compile(withExactIntegers(schema) as S)
  return (value, root = '') => {
    if (compiled.Check(value)) return value
    const errors = new Map<string, FieldError>()
    for (const error of compiled
      .Errors(value)
      .flatMap((found) => fieldErrors(found, root, value))) {
      if (errors.size < errorsMax && !errors.has(error.pointer)) errors.set(error.pointer, error)
    }
    throw new IntakeError('invalid_request', 'The request does not match the schema.', {
      errors: [...errors.values()],
    })
  }
}

export function compileCheck<S extends TSchema>(schema: S): (value: unknown) => value is Static<S> {
  const compiled = Compile(schema)
  return (value): value is Static<S> => compiled.Check(value)
}

const int64 = { type: 'bigint', minimum: -(2 ** 63), exclusiveMaximum: 2 ** 63 }

/** Integers beyond 2^53 are parsed as `bigint`s even if a double can hold them. */
const exactDouble = Type.Refine(Type.BigInt(), (integer) => BigInt(Number(integer)) === integer)

/**
 * Returns a copy in which an `int64` accepts every `bigint` in its range, and a number every
 * `bigint` that a double can hold exactly.
 */
function withExactIntegers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withExactIntegers)
  if (typeof schema !== 'object' || schema === null) return schema
  const mapped = Object.entries(schema).map(([name, inner]) => [name, withExactIntegers(inner)])
  const compiled: object = Object.fromEntries(mapped)
  const isInt64 = 'format' in schema && schema.format === 'int64'
  const minimum = Number.MIN_SAFE_INTEGER
  const maximum = Number.MAX_SAFE_INTEGER
  if (isInt64) return { anyOf: [{ ...compiled, minimum, maximum }, int64] }
  return isNumber(schema) ? { anyOf: [compiled, exactDouble] } : compiled
}

function isNumber(schema: object): boolean {
  return 'type' in schema && [schema.type].flat().includes('number')
}

interface SchemaError {
  keyword: string
  instancePath: string
  message: string
  params: object
}

function fieldErrors(error: SchemaError, root: string, value: unknown): FieldError[] {
  // There is also an error for each of the additional properties.
  if (error.keyword === 'additionalProperties') return []
  const path = root + error.instancePath
  if ('requiredProperties' in error.params) {
    const missing = error.params.requiredProperties as string[]
    return missing.map((name) => ({ pointer: `${path}/${name}`, detail: 'is required' }))
  }
  return [{ pointer: path, detail: expectation(error, value) ?? error.message }]
}

/**
 * A clearer text where the error's own would repeat a pattern, state the minimum length of 1, name
 * the schema of an unknown field or a constant, or say that an integer is no number or too large.
 */
function expectation(
  { keyword, params, instancePath }: SchemaError,
  value: unknown,
): string | undefined {
  if (keyword === 'minLength') return 'must not be empty'
  if (keyword === 'boolean') return 'unknown field'
  if (keyword === 'const') return 'is not one of the possible values'
  if (keyword === 'minimum' || keyword === 'maximum')
    return 'must have no exponent or fraction beyond 2^53'
  if (keyword === 'type' && typeof valueAt(value, instancePath) === 'bigint') {
    const types = new Set([(params as { type: string | string[] }).type].flat())
    if (types.has('integer')) return 'must be from -2^63 to 2^63 - 1'
    if (types.has('number'))
      return 'must be a number that a double (64-bit floating point) holds exactly'
  }
  if (keyword !== 'pattern') return undefined
  const { pattern } = params as { pattern: unknown }
  return expectations.get(String(pattern)) ?? 'has the wrong format'
}

/** @param pointer a JSON pointer to an existing value */
function valueAt(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1)
  return names.reduce<unknown>(
    (inner, name) =>
      (inner as Record<string, unknown>)[name.replaceAll('~1', '/').replaceAll('~0', '~')],
    value,
  )
}
