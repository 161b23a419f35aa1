const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'; script-src 'self'"

/** The script of the live view requests new events from the page's own server. */
export const liveSecurityPolicy = `${policy}; connect-src 'self'`

/**
 * Headers of the page's responses. With them a browser runs no script but the page's own files,
 * loads nothing from other sites and caches nothing.
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
 * Headers of a picture. A browser that opens only the picture shows it in a document of its own.
 * This document may load and run nothing; only the inline style of the browser's viewer is allowed.
 */
export const pictureHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
} as const
