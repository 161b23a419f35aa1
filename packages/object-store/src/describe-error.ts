import { S3Error } from 'minio'

const reasons: Record<string, string> = {
  NoSuchBucket: 'the bucket does not exist',
  AccessDenied: 'the access key is wrong or lacks the right',
  InvalidAccessKeyId: 'the store does not know the access key',
  SignatureDoesNotMatch: 'the store does not accept the secret key',
  AuthorizationHeaderMalformed: 'S3_REGION is not the region of the bucket',
  PermanentRedirect: 'S3_ENDPOINT or S3_REGION is not that of the bucket',
  ExpiredToken: 'the session token has expired',
  InvalidToken: 'the store does not accept the session token',
  // MinIO and versitygw use the following two codes.
  InvalidTokenId: 'the store does not accept the session token',
  XAdminUserNotFound: 'the store does not know the access key',
  RequestTimeTooSkewed: 'the clocks of the store and of this machine differ by minutes',
}

/** They can pass: credentials are renewed, and clocks corrected. */
const passing = new Set(['ExpiredToken', 'RequestTimeTooSkewed'])

/** Whether the store refuses for a reason that a retry would not change. */
export function isFinal(error: unknown): boolean {
  if (!(error instanceof S3Error)) return false
  const code = error.code ?? ''
  return Object.hasOwn(reasons, code) && !passing.has(code)
}

/** Returns why a request to the object store failed, in words for an operator. */
export function describeStoreError(error: unknown): string {
  if (error instanceof S3Error) {
    const { code } = error
    // An error from a proxy, and an error response to a HEAD request, have no code.
    if (!code) return 'the store refuses, without a code'
    return reasons[code] ?? `the store responds with ${code}`
  }
  if (error instanceof Error && error.cause !== undefined) return describeStoreError(error.cause)
  // A host may have several addresses. If none can be reached, the error has a code and no message.
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || String(error)
}
