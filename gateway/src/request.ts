import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiKey } from '@intake/access'
import type { Exchange } from '@intake/http-edge'
import type { RequestSpan } from '@intake/tracing'

/** What a request has used of its key's limits. */
export interface Charge {
  /** Subtracts the request's contents from its key's counts; for a request that is not stored. */
  giveBack(): void
  /**
   * Subtracts this number of records, and their share of the request's bytes, from the key's counts
   * of the day; for records that are acknowledged but not stored.
   */
  giveBackBudget(records: number): void
}

/** The part of a byte budget that one request uses. */
export interface ByteLease {
  /**
   * Charges body bytes that have arrived and are kept, or memory that processing them needs.
   *
   * @throws {IntakeError} `busy` when the bytes are not available or exceed the share of the API
   * key; `malformed_http` after `release`: the client has disconnected, and the work should end
   */
  extend: (bytes: number) => void
  /** Gives all back as soon as work passed to `retainWhile` has settled. May be repeated. */
  release: () => void
  /** Keeps the bytes charged until `work` has settled, even if `release` is called before. */
  retainWhile<Result>(work: Promise<Result>): Promise<Result>
}

declare module 'fastify' {
  /** The state of a request: all that later steps know of it from earlier ones. */
  interface FastifyRequest {
    /** Undefined before `beforeBody`, and if the request did not arrive over a connection. */
    exchange: Exchange | undefined
    /** The API key of the sender; set before the body of any write operation is read. */
    apiKey: ApiKey | undefined
    /** Undefined until a place for the body is taken. */
    bodyLease: ByteLease | undefined
    /** Undefined until the contents of the request are counted. */
    charge: Charge | undefined
    /**
     * The number of records in the request; if the request is refused, this many refused records
     * are counted. It is 1 until the number is known. It is undefined if the router cannot parse
     * the URL, because Fastify does not decorate such a request.
     */
    records: number | undefined
    span: RequestSpan | undefined
  }
}

export const requestOptions = {
  genReqId: () => randomUUID(),
  // Uses one logger for all requests, because creating a child logger for a request would cost more
  // than routing it. Log lines contain the id of the request instead.
  childLoggerFactory: (logger: FastifyBaseLogger) => logger,
}

/** Declares the properties to Fastify, so that all requests have the same shape. */
export function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('exchange')
  app.decorateRequest('apiKey')
  app.decorateRequest('bodyLease')
  app.decorateRequest('charge')
  app.decorateRequest('records', 1)
  app.decorateRequest('span')
}

export function requireApiKey({ apiKey }: FastifyRequest): ApiKey {
  if (apiKey === undefined) throw new Error('the request has not been authenticated')
  return apiKey
}

export function requireLease({ bodyLease }: FastifyRequest): ByteLease {
  if (bodyLease === undefined) throw new Error('the body of the request has not been leased')
  return bodyLease
}
