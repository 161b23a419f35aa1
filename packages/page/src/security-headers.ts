const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'"

/** The live view has one script, which requests new events from the page's own server. */
export const liveSecurityPolicy = `${policy}; script-src 'self'; connect-src 'self'`

/**
 * Headers of the responses of the page: no script runs (except in the live view, which has
 * `liveSecurityPolicy`), nothing is loaded from other sites, and nothing is cached.
 */
export const securityHeaders = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow',
} as const

/**
 * Headers of a picture. A picture that is opened alone is a document of its own: it may load and
 * run nothing, and only the style of the browser's viewer is allowed.
 */
export const pictureHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
} as const
