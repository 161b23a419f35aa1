import type { FastifyRequest } from 'fastify'
import type { RequestSpan } from '@intake/tracing'
import { requireApiKey } from '../admission/authenticate.ts'

/** Properties of a request that all its records share. */
export interface RequestContext {
  apiKeyId: string
  /** A UUID. */
  requestId: string
  /** When the whole request had arrived, in milliseconds since 1970 by the gateway's clock. */
  receivedAtMs: number
  /** The country as two capital letters; absent if unknown. */
  country?: string | undefined
  /** The span of the request; undefined if the request is not traced. */
  span?: RequestSpan | undefined
}

export type ContextOf = (request: FastifyRequest) => RequestContext

/**
 * Creates the function that collects the properties of an authenticated request.
 *
 * @param options.now the current time in milliseconds since 1970; may throw to refuse the request
 * @param options.countryHeader the header in which a trusted proxy sends the country of the client;
 * if absent, no country is stored
 */
export function createContextOf(options: {
  now: () => number
  countryHeader: string | undefined
}): ContextOf {
  const { now } = options
  const countryHeader = options.countryHeader?.toLowerCase()
  return (request) => ({
    apiKeyId: requireApiKey(request).id,
    requestId: request.id,
    receivedAtMs: now(),
    country: countryHeader === undefined ? undefined : countryOf(request.headers[countryHeader]),
    span: request.span,
  })
}

/**
 * Returns the country in upper case; undefined if it is not two letters, as in ISO 3166, or is XX,
 * which proxies send for an unknown country.
 */
function countryOf(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string' || !/^[a-z]{2}$/i.test(value)) return undefined
  const country = value.toUpperCase()
  return country === 'XX' ? undefined : country
}
