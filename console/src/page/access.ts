import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import basicAuth from '@fastify/basic-auth'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import pLimit from 'p-limit'
import { isLoopbackAddress, isLoopbackHost } from '@intake/runtime'
import { PageError } from './page-error.ts'

/** Header fields that proxies add. A request with such a field does not count as local. */
const proxyFields = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']
const wrongPasswords = { timeWindow: 60_000, ofAddress: 10, ofAll: 100 }

/**
 * Refuses requests with 401, 403 or 429. With a password, requests need basic authentication;
 * without one they must come from this machine, to a loopback name: a foreign site can make its own
 * name resolve to 127.0.0.1 (DNS rebinding).
 *
 * @param options.isOpen whether a request needs no password
 */
export async function guardAccess(
  app: FastifyInstance,
  options: {
    password: string | undefined
    addressOf: (request: IncomingMessage) => string
    isOpen: (request: FastifyRequest) => boolean
  },
): Promise<void> {
  const { password, addressOf, isOpen } = options
  if (password === undefined) {
    app.addHook('onRequest', async (request) => requireLoopback(request))
    return
  }
  await app.register(rateLimit, { global: false })
  const { timeWindow, ofAddress, ofAll } = wrongPasswords
  const limits = [
    app.createRateLimit({
      timeWindow,
      max: ofAddress,
      keyGenerator: (request) => `${senderOf(request)} ${addressOf(request.raw)}`,
    }),
    // This limit counts all addresses together, because one attacker can use many addresses.
    app.createRateLimit({ timeWindow, max: ofAll, keyGenerator: senderOf }),
  ]
  const requirePassword = async (given: string, request: FastifyRequest) => {
    for (const limit of limits) {
      const tried = await limit(request, { increment: false })
      if (!tried.isAllowed && tried.remaining === 0)
        throw new PageError(429, 'Too many wrong passwords. Wait a minute.')
    }
    if (isEqual(given, password)) return
    for (const limit of limits) await limit(request)
    throw unauthorized()
  }
  // Checks one password at a time, so that each check counts all wrong passwords before it.
  const inTurn = pLimit(1)
  await app.register(basicAuth, {
    authenticate: { realm: 'Intake' },
    validate: async (_user, given, request) => inTurn(requirePassword, given, request),
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (isOpen(request)) return done()
    app.basicAuth(request, reply, (error) => {
      if (isMissingPassword(error)) return done(unauthorized())
      done(error)
    })
  })
}

/** Whether a request has no readable password. The plugin says so by this code. */
const isMissingPassword = (error: unknown) =>
  (error as { code?: string } | undefined)?.code ===
  'FST_BASIC_AUTH_MISSING_OR_BAD_AUTHORIZATION_HEADER'

/**
 * Refuses what a page of another site loads. A request that opens a page may come from anywhere.
 *
 * @throws {PageError} 403
 */
export function requireOwnSite(request: FastifyRequest): void {
  if (!isFromOtherSite(request) || request.headers['sec-fetch-mode'] === 'navigate') return
  throw new PageError(403, 'The page serves no requests from other sites.')
}

/** Browsers send `sec-fetch-site` only to https and loopback URLs; elsewhere the result is false. */
const isFromOtherSite = ({ headers }: FastifyRequest): boolean =>
  ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))

/**
 * The group in which a wrong password is counted, each with its own limits, so that no foreign page
 * can lock readers out. Such a page can make browsers open `http://user:guess@…/`; they then load
 * the style sheet and the icon with the same password, as if this site asked: those are a `part`.
 */
function senderOf(request: FastifyRequest): 'another site' | 'part' | 'reader' {
  if (isFromOtherSite(request)) return 'another site'
  const { 'sec-fetch-dest': loaded = 'document' } = request.headers
  return loaded === 'document' ? 'reader' : 'part'
}

function requireLoopback({ socket, headers }: FastifyRequest): void {
  const isLocal = [socket.localAddress, socket.remoteAddress].every((address) =>
    isLoopbackAddress(address),
  )
  const isDirect = proxyFields.every((name) => headers[name] === undefined)
  if (isLocal && isDirect && isLoopbackHost(headers.host)) return
  throw new PageError(403, 'Without PAGE_PASSWORD the page is served to this machine only.')
}

const unauthorized = () => new PageError(401, 'The page needs its password. Any user name will do.')

/** Takes the same time wherever two texts differ. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
