import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'

export type SignedLinks = ReturnType<typeof createSignedLinks>

const lifetimeMs = 15 * 60_000

/**
 * Consoles with the same password and secret accept each other's links, even after a restart. If one
 * is missing, links are valid until this process ends. A key of the password alone would let anyone
 * test guesses of the password with a link.
 *
 * @param secret known to the consoles only, and not guessable
 */
export function createSignedLinks(
  password: string | undefined,
  secret: string | undefined,
  wallMs: () => number = () => Date.now(),
) {
  const key =
    password === undefined || !secret
      ? randomBytes(32)
      : scryptSync(JSON.stringify([password, secret]), 'intake page links', 32)
  const signatureOf = (path: string, expires: string) =>
    createHmac('sha256', key).update(`${path}\n${expires}`).digest()

  return {
    /** Appends the time at which the path expires, and a signature of the path and this time. */
    sign(path: string): string {
      const expires = String(Math.floor((wallMs() + lifetimeMs) / 1000))
      return `${path}?expires=${expires}&signature=${signatureOf(path, expires).toString('base64url')}`
    },

    isValid(path: string, query: URLSearchParams): boolean {
      const expires = query.get('expires') ?? ''
      const given = Buffer.from(query.get('signature') ?? '', 'base64url')
      const expected = signatureOf(path, expires)
      const isSigned = given.length === expected.length && timingSafeEqual(given, expected)
      return isSigned && Number(expires) * 1000 > wallMs()
    },
  }
}
