import type { AllowedOrigins } from '@intake/config'
import { createCors, type Cors, type PreflightResult } from '@intake/http-edge'
import type { AddressLimit } from './sketch-limits.ts'

/**
 * Request header fields that a page may send. The gateway reads the first five. Tools for tracing
 * and monitoring add the others to every request of a page, and one field that is not allowed stops
 * the request. `*` allows all fields (not `Authorization`); browsers that do not know it need the
 * names.
 */
const requestFields = [
  'x-api-key',
  'content-type',
  'content-encoding',
  'idempotency-key',
  'prefer',
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
  'newrelic',
  'x-newrelic-id',
  'x-datadog-trace-id',
  'x-datadog-parent-id',
  'x-datadog-sampling-priority',
  'x-datadog-origin',
  'x-datadog-tags',
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-flags',
  'uber-trace-id',
  'x-amzn-trace-id',
  'x-cloud-trace-context',
  'elastic-apm-traceparent',
  'sw8',
  'request-id',
  'request-context',
  'x-request-id',
  'x-correlation-id',
  'x-requested-with',
  '*',
] as const

const exposedFields = [
  'Retry-After',
  'Date',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
] as const

/**
 * Lets pages of other origins send requests to `/api/`; undefined if none may.
 *
 * @param options.addresses limits the preflight requests of each address, because they have no key
 */
export function createApiCors(options: {
  allowed: AllowedOrigins
  addresses: Pick<AddressLimit, 'take'>
  onPreflight: (result: PreflightResult) => void
}): Cors | undefined {
  const { allowed, addresses, onPreflight } = options
  if (allowed === undefined) return undefined
  return createCors({
    pathPrefix: '/api/',
    methods: ['POST'],
    requestFields,
    exposedFields,
    admit: addresses.take,
    onPreflight,
  })
}
