import {
  errorCatalogue,
  IntakeError,
  operationIds,
  type ErrorCode,
  type OperationId,
} from '../errors.ts'
import { problem } from '../problem.ts'

const integer = { type: 'integer', format: 'int32' }

export const headers = {
  'Retry-After': { schema: integer, description: 'Seconds after which to send the request again.' },
  'RateLimit-Limit': {
    schema: integer,
    description:
      'Requests that the API key may send in a window, to all gateways together. The three headers are ' +
      'absent if the request was refused before that limit, as with `key_suspended` and ' +
      '`origin_not_allowed`. They say nothing of the limits of events, devices and attachments: ' +
      'obey Retry-After.',
  },
  'RateLimit-Remaining': {
    schema: integer,
    description: 'How many of them remain, as far as this gateway knows.',
  },
  'RateLimit-Reset': { schema: integer, description: 'Seconds until the window ends.' },
} as const

const referTo = (names: readonly (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const rateHeaders = referTo(['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'])

/** The codes with which an operation can refuse a request, by status. */
export function refusalsOf(operation: OperationId): Map<number, ErrorCode[]> {
  const found = new Map<number, ErrorCode[]>()
  for (const code of Object.keys(errorCatalogue) as ErrorCode[]) {
    const { status, operations = operationIds } = errorCatalogue[code]
    if (!operations.includes(operation)) continue
    found.set(status, [...(found.get(status) ?? []), code])
  }
  return found
}

const requestId = '5b3d5c2e-6f0a-4f7e-9a63-0d1c0b1f6a52'

function errorResponse(codes: readonly ErrorCode[]) {
  const [first] = codes
  const names = codes.map((code) => `\`${code}\`: ${errorCatalogue[code].title}.`)
  const example = first && problem(new IntakeError(first, errorCatalogue[first].title), requestId)
  const hasRetryAfter = codes.some((code) => errorCatalogue[code].retryAfterSeconds !== undefined)
  return {
    description: names.join(' '),
    headers: {
      ...(hasRetryAfter && referTo(['Retry-After'])),
      ...(codes.some((code) => !errorCatalogue[code].isUnlimited) && rateHeaders),
    },
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        ...(example && { example }),
      },
    },
  }
}

const other = {
  ...errorResponse([]),
  description: 'Any other error. If a proxy sent it, it may have another body.',
}

/** The error responses, by component name. */
export const responses: Record<string, typeof other> = {}

/** The component of each list of codes: operations with the same codes share it. */
const names = new Map<string, string>()
for (const operation of operationIds) {
  for (const [status, codes] of refusalsOf(operation)) {
    if (names.has(String(codes))) continue
    const usual = `Error${status}`
    const name = usual in responses ? usual + operation.replace('create', '') : usual
    names.set(String(codes), name)
    responses[name] = errorResponse(codes)
  }
}
responses['ErrorOther'] = other

/** The error responses of an operation, by status. */
export function errorResponses(operation: OperationId): Record<string, { $ref: string }> {
  const refer = (name: string) => ({ $ref: `#/components/responses/${name}` })
  const own = [...refusalsOf(operation)].map(([status, codes]) => [
    status,
    refer(names.get(String(codes)) as string),
  ])
  return { ...Object.fromEntries(own), default: refer('ErrorOther') }
}

export function success(options: { description: string; schema: string; example: object }) {
  const { description, schema, example } = options
  return {
    description,
    headers: rateHeaders,
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example },
    },
  }
}
