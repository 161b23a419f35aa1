import type { IncomingMessage } from 'node:http'
import { IntakeError } from '@intake/contract'

/**
 * Maximum number of header fields. No client or proxy sends more. Node's own limit must be higher,
 * because Node silently drops the fields beyond its limit.
 */
export const headerFieldsMax = 100

/** Fields that are ambiguous when sent twice. */
const singleFields = new Set(['host', 'x-api-key', 'content-type', 'idempotency-key'])
const singleFieldLengths = new Set([...singleFields].map((name) => name.length))

/** Matches a `Host` field that is not empty: `uri-host [ ":" port ]` (RFC 9110, section 7.2). */
const hostPattern = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/

/**
 * Returns the error with which a request is refused because of its head; undefined if the head is
 * acceptable. Node's parser checks the syntax and `Content-Length`. This function checks what the
 * parser accepts and the gateway does not.
 */
export function headProblem(request: IncomingMessage): IntakeError | undefined {
  const { headers, rawHeaders, httpVersion } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return malformed('Use HTTP/1.1.')
  if (rawHeaders.length > 2 * headerFieldsMax) {
    const detail = `Send at most ${headerFieldsMax} header fields.`
    return new IntakeError('headers_too_large', detail)
  }
  const { host, 'transfer-encoding': coding } = headers
  if (host === undefined ? httpVersion === '1.1' : !hostPattern.test(host)) {
    return malformed('Send one valid Host header.')
  }
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return malformed('The only transfer coding is chunked, in HTTP/1.1.')
  }
  const repeated = repeatedField(rawHeaders)
  return repeated === undefined ? undefined : malformed(`Send the header ${repeated} once.`)
}

/**
 * Whether this is a GET or HEAD request with a body. It is served as if it had none. A proxy may
 * take the body for another request, so the connection must close after the response.
 */
export function hasUnusualBody({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return (headers['transfer-encoding'] ?? headers['content-length'] ?? '0') !== '0'
}

function repeatedField(rawHeaders: string[]): string | undefined {
  let seen: string[] | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index] ?? ''
    if (!singleFieldLengths.has(raw.length)) continue
    const name = raw.toLowerCase()
    if (!singleFields.has(name)) continue
    if (seen?.includes(name)) return name
    seen ??= []
    seen.push(name)
  }
  return undefined
}

function malformed(detail: string): IntakeError {
  return new IntakeError('malformed_http', detail)
}
