import type { IncomingMessage, ServerResponse } from 'node:http'
import { ignoreFollowing, type Handler } from './exchange.ts'

export type Cors = ReturnType<typeof createCors>

export type PreflightResult = 'answered' | 'limited'

/** Seconds; browsers use less if their own maximum is lower. */
const maxAge = 86_400

/**
 * Lets pages of other origins send requests and read the responses (CORS). Every accepted preflight
 * request gets the same response, whatever its origin, and needs no key and no lookup. Only `admit`
 * can refuse a preflight request. Any origin may read responses: there are no cookies, so a page
 * can do no more than any other client.
 *
 * @param options.admit whether a preflight request is accepted; if not, it gets 429 and the
 * connection closes
 */
export function createCors(options: {
  pathPrefix: string
  methods: readonly string[]
  requestFields: readonly string[]
  exposedFields: readonly string[]
  admit?: (request: IncomingMessage) => boolean
  onPreflight?: (result: PreflightResult) => void
}) {
  const { pathPrefix, admit = () => true, onPreflight = () => undefined } = options
  const allowOrigin = 'Access-Control-Allow-Origin'
  const fields = {
    [allowOrigin]: '*',
    'Access-Control-Expose-Headers': options.exposedFields.join(', '),
  }
  const fieldList = Object.entries(fields)
  // These fields are a flat list, because Node writes a list without checking each name.
  const granted = [
    [allowOrigin, '*'],
    ['Access-Control-Allow-Methods', options.methods.join(', ')],
    ['Access-Control-Allow-Headers', options.requestFields.join(', ')],
    ['Access-Control-Max-Age', String(maxAge)],
  ].flat()
  const refused = ['Retry-After', '60', 'Content-Length', '0', 'Connection', 'close']

  function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
    const isAdmitted = admit(request)
    onPreflight(isAdmitted ? 'answered' : 'limited')
    if (!isAdmitted) ignoreFollowing(request)
    response.writeHead(isAdmitted ? 204 : 429, isAdmitted ? granted : refused).end()
  }

  const covers = ({ url = '' }: IncomingMessage) => url.startsWith(pathPrefix)
  return {
    /** Whether pages may read the response to this request. */
    covers,
    fields: fields as Readonly<Record<string, string>>,
    /** Serves preflight requests, and all others with `fields` in the responses to covered ones. */
    wrap:
      (serve: Handler): Handler =>
      (request, response) => {
        if (!covers(request)) return serve(request, response)
        if (isPreflight(request)) return answerPreflight(request, response)
        for (const [name, value] of fieldList) response.setHeader(name, value)
        serve(request, response)
      },
  }
}

/**
 * A preflight request has no body. An `OPTIONS` request with one is refused like a wrong method.
 */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  if (method !== 'OPTIONS') return false
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
}
