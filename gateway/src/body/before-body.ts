import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { ApiKey, ApiKeyDirectory, Policy } from '@intake/access'
import type { AllowedOrigins } from '@intake/config'
import { IntakeError, type RecordKind } from '@intake/contract'
import { exchangeOf, whenEnded, type HttpEdge } from '@intake/http-edge'
import type { ByteBudget } from './byte-budget.ts'
import { requireCoding } from './content-encoding.ts'
import { bodyTooLarge } from './read-body.ts'
import type { Admission } from '../admission/admission.ts'
import type { KeyLimiter } from '../admission/key-limits.ts'
import type { KeyUsage } from '../admission/key-usage.ts'
import { limited } from '../admission/limits.ts'
import type { AddressLimit } from '../admission/sketch-limits.ts'

export interface Operation {
  kind: RecordKind
  /** The maximum size of the body as it is sent. */
  bodyBytesMax: number
  /** Whether bytes beyond `bodyBytesMax` are read and discarded; default: never. */
  readsPast?: (request: FastifyRequest) => boolean
  codings: readonly string[]
  budget: ByteBudget
}

export type BeforeBody = (operation: Operation) => onRequestHookHandler

/**
 * A body that exceeds its limit is read and discarded up to this multiple of the limit. Without a
 * maximum, an endless form would indefinitely occupy one of the places for requests in flight.
 */
const readPastFactor = 8

/**
 * Creates the hook that checks a request of an operation before a byte of its body is read: who
 * sends it, from where, how much its API key has sent, and whether there is room. It does no I/O,
 * so it works without Redis.
 *
 * The lease that it opens is released when the response has been sent or the connection has ended.
 *
 * @param options.allowed the origins whose pages may send records
 * @param options.failures limits the failed authentications of each client address. Beyond the
 * limit, a request without a valid key gets 429 with `Retry-After` instead of 401; requests with a
 * valid key are not affected.
 */
export function createBeforeBody(options: {
  apiKeys: Pick<ApiKeyDirectory, 'isLoaded' | 'find'>
  policy: Pick<Policy, 'isLoaded'>
  admission: Pick<Admission, 'checkQueue' | 'requireCapacity'>
  limiter: Pick<KeyLimiter, 'usageOf' | 'countRequest' | 'requireCapacity'>
  connections: HttpEdge['connections']
  allowed: AllowedOrigins
  failures: AddressLimit
}): BeforeBody {
  const { apiKeys, policy, admission, limiter, connections, allowed, failures } = options

  return (operation) => (request, reply, done) => {
    const { raw } = request
    // Before the key is looked up, refuses the request with 503 if Redis is down or has lost its
    // data. The keys are in Redis, so a key that is not found may still be valid, and a 401 would
    // make its client give up. Without the policy, the records of a suppressed sender would be
    // stored.
    admission.checkQueue()
    if (!policy.isLoaded()) throw notReadYet()
    request.exchange = exchangeOf(raw)
    const key = authenticate(apiKeys, request)
    if (key === undefined) {
      if (!apiKeys.isLoaded()) throw notReadYet()
      throw failures.take(raw) ? unauthorized() : limited(tooManyFailures, failures.msLeft())
    }
    const { origin } = raw.headers
    // Apps send no origin, and most of their keys are for no page.
    if (origin !== undefined || key.origins.length > 0) checkOrigin(origin, key, allowed)
    const connection = request.exchange?.connection
    if (connection !== undefined && connection.apiKeyId === undefined) {
      connections.authenticated(connection, key.id)
    }
    const usage = limiter.usageOf(key)
    countRequest(limiter, usage, reply)
    if (request.headers['content-encoding'] !== undefined) {
      requireCoding(request, reply, operation.codings)
    }
    limiter.requireCapacity(usage, operation.kind)
    admission.requireCapacity(operation.kind, key.id)
    leaseBody(operation, key, request, reply)
    done()
  }
}

/**
 * Checks the origin of the page that sends a request. The check stops only browsers: other clients
 * send no origin, or any origin that they choose.
 *
 * @param key.origins the origins whose pages may use the key; if empty, all clients may use it
 * @param allowed the origins that the installation allows; not checked if a request has no origin
 * @throws {IntakeError} `origin_not_allowed`
 */
function checkOrigin(
  origin: string | undefined,
  { origins }: ApiKey,
  allowed: AllowedOrigins,
): void {
  if (origins.length > 0 && (origin === undefined || !origins.includes(origin))) {
    throw new IntakeError('origin_not_allowed', 'This API key is for pages of other origins.')
  }
  if (typeof allowed !== 'object' || origin === undefined || allowed.has(origin)) return
  throw new IntakeError('origin_not_allowed', 'CORS_ORIGINS does not list the origin of this page.')
}

/**
 * Adds the header fields of draft-ietf-httpapi-ratelimit-headers-06, as far as this gateway knows
 * the counts of the others.
 */
function countRequest(
  limiter: Pick<KeyLimiter, 'countRequest'>,
  usage: KeyUsage,
  reply: FastifyReply,
): void {
  const { requests, max, msLeft } = limiter.countRequest(usage)
  const secondsLeft = Math.ceil(msLeft / 1_000)
  reply.header('ratelimit-limit', max)
  reply.header('ratelimit-remaining', Math.max(0, max - requests))
  reply.header('ratelimit-reset', secondsLeft)
  if (requests <= max) return
  const detail = 'Wait as long as Retry-After says.'
  throw new IntakeError('rate_limited', detail, { retryAfterSeconds: secondsLeft })
}

/**
 * @throws {IntakeError} `body_too_large` for a declared length over `bodyBytesMax`, except if
 * `readsPast` returns true; `busy` when the budget has no room for the request now
 */
function leaseBody(
  { bodyBytesMax, readsPast, budget }: Operation,
  key: ApiKey,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > bodyBytesMax && readsPast?.(request) !== true) throw bodyTooLarge(bodyBytesMax)
  const expectedBytes = Math.min(declared, bodyBytesMax)
  const lease = budget.lease({ account: key.id, expectedBytes })
  request.bodyLease = lease
  const { exchange } = request
  whenEnded(exchange, reply.raw, lease.release)
  if (exchange !== undefined) exchange.bodyBytesMax = bodyBytesMax * readPastFactor
}

/**
 * Returns the API key of a request in its current state: it may have been suspended, revoked or
 * changed while the body arrived, which can take hours.
 *
 * @throws {IntakeError} `key_suspended`, `unauthorized`
 */
export function requireKeyNow(
  apiKeys: Pick<ApiKeyDirectory, 'find'>,
  request: FastifyRequest,
): ApiKey {
  const key = authenticate(apiKeys, request)
  if (key === undefined) throw unauthorized()
  return key
}

/**
 * Finds the API key, which becomes `request.apiKey`; undefined if it is not valid.
 *
 * @throws {IntakeError} `key_suspended`
 */
function authenticate(
  apiKeys: Pick<ApiKeyDirectory, 'find'>,
  request: FastifyRequest,
): ApiKey | undefined {
  const secret = request.headers['x-api-key']
  const key = typeof secret === 'string' ? apiKeys.find(secret) : undefined
  if (key === undefined) return undefined
  request.apiKey = key
  if (key.suspendedAt === null) return key
  throw new IntakeError('key_suspended', 'The API key is suspended; keep what is not sent.')
}

const notReadYet = () =>
  new IntakeError('queue_unavailable', 'The API keys or the rules have not been read yet.')

const unauthorized = () =>
  new IntakeError('unauthorized', 'Send a valid API key in the x-api-key header.')

const tooManyFailures = 'This address has sent too many requests without a valid API key.'
