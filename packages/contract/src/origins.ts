/** An origin that is not a web address, such as `capacitor://localhost` of an app. */
const otherOrigin = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#,@]+$/

/**
 * Returns the origin in the form that browsers send (RFC 6454): scheme, host and port in lower
 * case, without a default port and without a path. Returns undefined if the text is not an origin.
 */
export function parseOrigin(text: string): string | undefined {
  // White space is refused, because the URL parser would remove it. `*` is refused, because it
  // would not work as a wildcard: an origin is compared as a whole, and no browser sends a `*`.
  if (/[\s*]/.test(text)) return undefined
  if (!/^https?:/i.test(text)) {
    const origin = text.toLowerCase()
    return otherOrigin.test(origin) ? origin : undefined
  }
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const { origin, pathname, search, hash, username, password } = new URL(text)
  const isBare = pathname === '/' && search + hash + username + password === ''
  return isBare && !/[?#]$|\/$/.test(text) ? origin : undefined
}
