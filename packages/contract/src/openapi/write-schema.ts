import { uuidPattern } from '../uuid.ts'

/** A JSON Schema, as TypeBox makes it or as the document has it. */
export interface Schema {
  type?: string | readonly string[]
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  items?: Schema
  anyOf?: readonly Schema[]
  [keyword: string]: unknown
}

/** Keywords that every generator understands and that do not change a generated type. */
const keptKeywords = ['description', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const
/** Keywords that are not copied: the document does not need them, or the writer replaces them. */
const replacedKeywords: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'items',
  'anyOf',
  'const',
  'format',
  'pattern',
  'additionalProperties',
  'default',
])
const numberFormats: Readonly<Record<string, string>> = { integer: 'int32', number: 'double' }

/**
 * Writes the schemas of the contract so that generators of clients understand them: a client that
 * misunderstands one may fail to read the response to a stored record. The gateway also accepts
 * what the document leaves out, such as `null` for an absent field.
 * - `null` and the empty string are left out of what may be sent;
 * - a union of objects becomes one object whose properties are optional unless all variants have
 *   them;
 * - a constant becomes a string, so that another value can be added;
 * - every number has a format;
 * - `additionalProperties` is only on objects without documented properties.
 *
 * @param options.names schemas that become a `$ref`, with the name of the component
 * @param options.recommended what clients should send where the gateway accepts more
 * @param options.undocumented schemas of properties that are left out
 */
export function createSchemaWriter(options: {
  names: ReadonlyMap<object, string>
  recommended: ReadonlyMap<object, Schema>
  undocumented: ReadonlySet<object>
}): { refer: (schema: object) => Schema; define: (schema: object) => Schema } {
  const { names, recommended, undocumented } = options

  /** Returns a reference if the schema has a name; otherwise its definition. */
  function refer(schema: object): Schema {
    const name = names.get(schema)
    return name === undefined ? define(schema) : { $ref: `#/components/schemas/${name}` }
  }

  function define(contractSchema: object): Schema {
    const schema: Schema = { ...contractSchema }
    const { anyOf } = schema
    for (const one of [schema, ...(anyOf ?? [])]) requireKnown(one)
    const whole = anyOf === undefined ? schema : { ...joinVariants(anyOf), ...keywordsOf(schema) }
    const type = typeOf(whole)
    const defined: Schema = { type, ...keywordsOf(whole), ...formatOf(type, whole) }
    if (type === 'object') Object.assign(defined, defineObject(whole))
    if (type === 'array') defined.items = refer(whole.items ?? {})
    return { ...defined, ...recommended.get(contractSchema) }
  }

  function defineObject({ properties = {}, required = [] }: Schema): Schema {
    const documented = Object.entries(properties).filter(([, inner]) => !undocumented.has(inner))
    if (documented.length === 0) return { additionalProperties: true }
    return {
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(documented.map(([name, inner]) => [name, refer(inner)])),
    }
  }

  return { refer, define }
}

/** @throws {Error} for a keyword that no rule handles; otherwise the document would lose it */
function requireKnown(schema: Schema): void {
  const kept: readonly string[] = keptKeywords
  const unknown = Object.keys(schema).filter(
    (keyword) => !kept.includes(keyword) && !replacedKeywords.has(keyword),
  )
  if (unknown.length > 0) throw new Error(`no rule for the keyword ${unknown.join(', ')}`)
}

function keywordsOf(schema: Schema): Schema {
  const kept = keptKeywords.filter((keyword) => schema[keyword] !== undefined)
  return Object.fromEntries(kept.map((keyword) => [keyword, schema[keyword]]))
}

function typeOf({ type }: Schema): string {
  const [only, ...others] = [type ?? []].flat().filter((one) => one !== 'null')
  if (only === undefined || others.length > 0) throw new Error(`no single type: ${String(type)}`)
  return only
}

function formatOf(type: string, { format, pattern }: Schema): Schema {
  if (type in numberFormats) return { format: format ?? numberFormats[type] }
  return format === 'uuid' || pattern === uuidPattern ? { format: 'uuid' } : {}
}

function joinVariants(variants: readonly Schema[]): Schema {
  const sent = variants.filter(({ type, const: value }) => type !== 'null' && value !== '')
  const [first, ...others] = sent
  if (first === undefined) throw new Error('a union of nothing that may be sent')
  if (others.length === 0) return first
  const objects = sent.map(({ properties }): NonNullable<Schema['properties']> => properties ?? {})
  const names = [...new Set(objects.flatMap((properties) => Object.keys(properties)))]
  return {
    type: 'object',
    required: names.filter((name) => sent.every(({ required }) => required?.includes(name))),
    properties: Object.fromEntries(
      names.map((name) => [name, joinProperty(objects.map((one) => one[name]).filter(isPresent))]),
    ),
  }
}

const isPresent = (schema: Schema | undefined): schema is Schema => schema !== undefined

/** All variants must have the same schema, or the constant that distinguishes them. */
function joinProperty(schemas: readonly Schema[]): Schema {
  const [first, ...others] = schemas
  if (first !== undefined && others.every((one) => one === first)) return first
  const values = schemas.map(({ const: value }) => value)
  if (!values.every((value) => typeof value === 'string')) {
    throw new Error('variants share a property that does not distinguish them')
  }
  return { type: 'string', description: `${values.map((value) => `\`${value}\``).join(' or ')}.` }
}
