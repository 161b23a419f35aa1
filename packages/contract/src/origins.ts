/** An origin that is not a web address, such as `capacitor://localhost` of an app. */
const otherOrigin = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#,@]+$/

/**
 * Returns the origin as browsers send it (RFC 6454): scheme, host and port in lower case, without a
 * default port and a path. Undefined if the text is no origin.
 */
export function parseOrigin(text: string): string | undefined {
  // The URL parser would remove white space. `*` is no wildcard: origins are compared as a whole.
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
