import { createHash, timingSafeEqual } from 'node:crypto'
import basicAuth from '@fastify/basic-auth'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import pLimit from 'p-limit'
import { isLoopbackAddress, isLoopbackHost } from '@intake/runtime'
import { PageError } from './page-error.ts'

/** Fields that proxies add: a request that has one was not made on this machine. */
const proxyFields = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']
const wrongPasswords = { timeWindow: 60_000, ofAddress: 10, ofAll: 100 }

/**
 * Refuses requests with 401, 403 or 429. With a password: basic authentication, the user name is free. Without one: only
 * requests from this machine to this machine. The `Host` must be a loopback name too, because a foreign site can
 * give its name the address 127.0.0.1 (DNS rebinding).
 *
 * @param options.isOpen needs no password
 */
export async function guardAccess(
  app: FastifyInstance,
  options: { password: string | undefined; isOpen: (request: FastifyRequest) => boolean },
): Promise<void> {
  const { password, isOpen } = options
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
      keyGenerator: (request) => `${senderOf(request)} ${request.ip}`,
    }),
    // Whoever can choose an address, or has many, gets no more tries than this.
    app.createRateLimit({ timeWindow, max: ofAll, keyGenerator: senderOf }),
  ]
  const requirePassword = async (given: string, request: FastifyRequest) => {
    for (const limit of limits) {
      const tried = await limit(request, { increment: false })
      if (!tried.isAllowed && tried.remaining === 0) {
        throw new PageError(429, 'Too many wrong passwords. Wait a minute.')
      }
    }
    if (isEqual(given, password)) return
    for (const limit of limits) await limit(request)
    throw unauthorized()
  }
  // One at a time, so that each sees the count of those before it.
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

/** The error that the plugin has for a request without a password, or with one that it cannot read. */
const isMissingPassword = (error: unknown) =>
  (error as { code?: string } | undefined)?.code ===
  'FST_BASIC_AUTH_MISSING_OR_BAD_AUTHORIZATION_HEADER'

/**
 * A foreign site may lead to the page, but may not make the browser of a reader send searches.
 *
 * @throws {PageError} 403
 */
export function requireOwnSite(request: FastifyRequest): void {
  if (!isFromOtherSite(request) || request.headers['sec-fetch-mode'] === 'navigate') return
  throw new PageError(403, 'The page answers no requests of other sites.')
}

/** Browsers say so to an https or loopback URL only. */
function isFromOtherSite({ headers }: FastifyRequest): boolean {
  return ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))
}

/**
 * Who sends wrong passwords. A web page can make its visitors' browsers open `http://user:guess@…/` as often as it
 * likes, and what such a navigation shows is asked for with the same password, as if from the same site. Both
 * are counted apart, so that no site locks readers out.
 */
function senderOf(request: FastifyRequest): 'another site' | 'part' | 'reader' {
  if (isFromOtherSite(request)) return 'another site'
  return isPart(request) ? 'part' : 'reader'
}

/** A style sheet, a picture or an icon, says a browser. */
function isPart({ headers }: FastifyRequest): boolean {
  return !['document', 'undefined'].includes(String(headers['sec-fetch-dest']))
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

/** In a time that does not depend on where they differ. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
