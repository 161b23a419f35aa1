// Decides which requests reach the embedded S3 server. S3rver alone is not safe: it requires no
// signature for static websites, for preflight requests and for requests that it does not recognise
// as signed. It also does not check the names that it appends to its folder. So the guard accepts
// only the requests that Intake's S3 client sends, in the one form whose signature S3rver verifies.

const hosts = /^(?:127\.0\.0\.1|localhost)(?::\d{1,5})?$/
const signature =
  /^AWS4-HMAC-SHA256 Credential=(?<accessKey>[\w-]+)\/\d{8}\/[\w-]+\/s3\/aws4_request, ?SignedHeaders=[a-z\d;-]+, ?Signature=[\da-f]{64}$/

const bucket = '[a-z\\d][a-z\\d.-]{1,61}[a-z\\d]'
// A path segment: not empty, not only dots, and without encoded characters.
const segment = '(?!\\.+(?:/|\\?|$))[\\w.-]{1,200}'
const target = new RegExp(
  `^/(?<bucket>${bucket})(?:/(?<key>${segment}(?:/${segment})*))?(?:\\?(?<query>.*))?$`,
)
const keyBytesMax = 1024

/** Parameters of a list request, with the values that they may have. */
const listParameters = new Map([
  ['delimiter', /^$/],
  ['encoding-type', /^url$/],
  ['marker', /^[\w./-]*$/],
  ['max-keys', /^\d{1,4}$/],
  ['prefix', /^[\w./-]*$/],
])

const signedHeaders = /^x-amz-(?:date|content-sha256|meta-[\w-]+|server-side-encryption[\w-]*)$/
const contentHash = /^[\da-f]{64}$/

/** @param accessKeys a set of the known ones */
export function createGuard(accessKeys) {
  /**
   * Returns the S3 code with which a request is refused. Returns undefined if S3rver may get the
   * request. S3rver then verifies the signature.
   */
  return ({ method, url, headers }) => {
    const { accessKey } = signature.exec(headers.authorization ?? '')?.groups ?? {}
    if (accessKey === undefined || !hosts.test(headers.host ?? '')) return 'AccessDenied'
    if (!accessKeys.has(accessKey)) return 'InvalidAccessKeyId'
    return isKnown(method, url) && hasPlainHeaders(method, headers) ? undefined : 'AccessDenied'
  }
}

/** Whether Intake sends such requests, and the target has no encoded or unusual parts. */
function isKnown(method, url) {
  const { key, query } = target.exec(url)?.groups ?? { query: 'none' }
  if (key !== undefined) {
    const isPlain = query === undefined && key.length <= keyBytesMax
    return isPlain && ['PUT', 'GET', 'HEAD', 'DELETE'].includes(method)
  }
  if (method === 'GET' && query !== undefined) return isList(query)
  // Creates or finds the bucket.
  return query === undefined && ['PUT', 'HEAD'].includes(method)
}

function isList(query) {
  const parameters = [...new URLSearchParams(query)]
  const names = new Set(parameters.map(([name]) => name))
  return (
    names.has('prefix') &&
    names.size === parameters.length &&
    parameters.every(
      ([name, value]) => listParameters.get(name)?.test(value) && !value.includes('..'),
    )
  )
}

/**
 * Whether the request has only headers that S3rver handles safely. Without `x-amz-date`, S3rver may
 * treat the request as one to a static website. Other `x-amz-` headers change what the request
 * does: for example, one of them makes it copy an object. A body in signed chunks is not accepted,
 * because S3rver does not verify the signatures of chunks.
 */
function hasPlainHeaders(method, headers) {
  return (
    headers['x-amz-date'] !== undefined &&
    contentHash.test(headers['x-amz-content-sha256'] ?? '') &&
    headers['transfer-encoding'] === undefined &&
    (method !== 'PUT' || headers['content-length'] !== undefined) &&
    Object.keys(headers).every((name) => !name.startsWith('x-amz-') || signedHeaders.test(name))
  )
}
