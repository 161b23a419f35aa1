import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLoopbackAddress, isLoopbackHost } from '@intake/runtime'
import { PageError } from './page-error.ts'
import { createWrongPasswords } from './wrong-passwords.ts'

/** Fields that proxies add: a request that has one was not made on this machine. */
const proxyFields = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

/**
 * Lets a request through or throws. With a password: basic authentication, the user name is free. Without
 * one: only requests from this machine to this machine. The `Host` must be a loopback name too, because
 * a foreign site can give its name the address 127.0.0.1 (DNS rebinding). Wrong passwords of
 * navigations that other sites started, and of what the answers to them contain, are counted apart, so
 * that no site locks readers out.
 *
 * @throws {PageError} 401, 403 or 429
 */
export function createAccess(password: string | undefined) {
  if (password === undefined) return requireLoopback
  // A web page can make its visitors' browsers open `http://user:guess@…/` as often as it likes.
  const fromOtherSites = createWrongPasswords()
  // What a page contains is asked for with the credentials of that navigation, as if from the same site.
  const ofParts = createWrongPasswords()
  const fromReaders = createWrongPasswords()
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const given = passwordOf(request.headers.authorization)
    if (given === undefined) throw unauthorized(reply)
    const wrong = isFromOtherSite(request)
      ? fromOtherSites
      : isPart(request)
        ? ofParts
        : fromReaders
    if (wrong.areTooMany(request.ip)) {
      throw new PageError(429, 'Too many wrong passwords. Wait a minute.')
    }
    if (isEqual(given, password)) return
    wrong.add(request.ip)
    throw unauthorized(reply)
  }
}

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

function unauthorized(reply: FastifyReply): PageError {
  void reply.header('www-authenticate', 'Basic realm="Intake", charset="UTF-8"')
  return new PageError(401, 'The page needs its password. Any user name will do.')
}

function passwordOf(authorization = ''): string | undefined {
  const [, credentials] = /^basic +([a-z0-9+/=]+)$/i.exec(authorization) ?? []
  if (credentials === undefined) return undefined
  const text = Buffer.from(credentials, 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : text.slice(colon + 1)
}

/** In a time that does not depend on where they differ. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
