type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
const inner = ['items', 'additionalProperties', 'oneOf', 'anyOf', 'allOf', 'properties']

/**
 * Finds the parts of an OpenAPI document that break generated clients. Returns the JSON pointer and
 * the problem of each:
 *
 * - `oneOf`, `anyOf` and `allOf`: a generated Kotlin client cannot read a response with a union, so
 * it fails although the gateway has stored the records;
 * - `enum` and `const` in a response: a value that is added later would break shipped apps;
 * - a number without a format: Kotlin makes it a BigDecimal, and writes that as a string;
 * - a schema with several types, such as a type and `null`; `additionalProperties` next to
 * `properties`; a parameter `Content-Encoding`.
 */
export function findProblems(document: Json): string[] {
  const problems: string[] = []

  function follow(schema: unknown, pointer: string, isResponse: boolean): void {
    if (!isObject(schema)) return
    const { $ref } = schema
    if (typeof $ref === 'string') return follow(resolve(document, $ref), $ref, isResponse)
    checkSchema(schema, (problem) => problems.push(`${pointer}: ${problem}`), isResponse)
    for (const keyword of inner) {
      const value = schema[keyword]
      const children = keyword === 'properties' || Array.isArray(value) ? value : { '': value }
      for (const [name, child] of Object.entries((children ?? {}) as Json)) {
        follow(child, [pointer, keyword, name].filter(Boolean).join('/'), isResponse)
      }
    }
  }

  for (const [path, methods] of Object.entries(document['paths'] as Record<string, Json>)) {
    for (const [method, operation] of Object.entries(methods) as [string, Json][]) {
      const at = `#/paths/${path.replaceAll('/', '~1')}/${method}`
      for (const sent of (operation['parameters'] ?? []) as Json[]) {
        const parameter = resolved(document, sent)
        if (/^content-encoding$/i.test(String(parameter['name'])))
          problems.push(`${at}: a Content-Encoding parameter`)
        follow(parameter['schema'], `${at}/parameters`, false)
      }
      for (const schema of schemasOf(operation['requestBody']))
        follow(schema, `${at}/requestBody`, false)
      for (const [status, sent] of Object.entries(operation['responses'] as Record<string, Json>)) {
        const response = resolved(document, sent)
        const headers = Object.values((response['headers'] ?? {}) as Record<string, Json>)
        const schemas = headers.map((header) => resolved(document, header)['schema'])
        for (const schema of [...schemasOf(response), ...schemas])
          follow(schema, `${at}/responses/${status}`, true)
      }
    }
  }
  return [...new Set(problems)]
}

function checkSchema(schema: Json, add: (problem: string) => void, isResponse: boolean): void {
  const types = [schema['type'] ?? []].flat()
  if (types.length !== 1) add(`type ${JSON.stringify(schema['type'])}`)
  const isNumber = types.includes('number') || types.includes('integer')
  if (isNumber && schema['format'] === undefined) add('a number without a format')
  if ('properties' in schema && 'additionalProperties' in schema)
    add('additionalProperties beside properties')
  for (const keyword of ['oneOf', 'anyOf', 'allOf']) if (keyword in schema) add(keyword)
  if (isResponse) for (const keyword of ['enum', 'const']) if (keyword in schema) add(keyword)
}

function schemasOf(body: unknown): unknown[] {
  const content = isObject(body) ? body['content'] : undefined
  return Object.values((content ?? {}) as Record<string, Json>).map(({ schema }) => schema)
}

function resolved(document: Json, value: Json): Json {
  const { $ref } = value
  return typeof $ref === 'string' ? (resolve(document, $ref) as Json) : value
}

function resolve(document: Json, $ref: string): unknown {
  return $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => (value as Json)[name], document)
}

/**
 * Returns the schema of a response. Every `$ref` is replaced by its target. The schema accepts only
 * documented properties.
 */
export function closedSchema(document: Json, operation: string, status: number): Json {
  const [method = '', path = ''] = operation.split(' ')
  const paths = document['paths'] as Record<string, Record<string, Json>>
  const responses = paths[path]?.[method]?.['responses'] as Record<string, Json>
  const response = responses[String(status)]
  if (response === undefined) throw new Error(`${operation} has no status ${status}`)
  const [schema] = schemasOf(resolved(document, response))
  return close(schema) as Json

  function close(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(close)
    if (!isObject(value)) return value
    if (typeof value['$ref'] === 'string') return close(resolve(document, value['$ref']))
    const closed = Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, close(one)]),
    )
    return 'properties' in closed ? { ...closed, additionalProperties: false } : closed
  }
}
