import type { FastifyRequest } from 'fastify'
import type { RequestContext } from '../record/row.ts'

export type ContextOf = (request: FastifyRequest) => RequestContext

/**
 * @param options.countryHeader the header with the country of the client, which a trusted proxy sets;
 * absent: no country is stored
 */
export function createContextOf(options: {
  now: () => number
  countryHeader: string | undefined
}): ContextOf {
  const { now } = options
  const countryHeader = options.countryHeader?.toLowerCase()
  return (request) => ({
    apiKeyId: request.apiKey.id,
    requestId: request.id,
    receivedAtMs: now(),
    span: request.span,
    country: countryHeader === undefined ? undefined : countryOf(request.headers[countryHeader]),
  })
}

/** Two letters, as in ISO 3166; proxies send XX for an unknown country. */
function countryOf(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string' || !/^[a-z]{2}$/i.test(value)) return undefined
  const country = value.toUpperCase()
  return country === 'XX' ? undefined : country
}
