import { exchangeWith, readAnswer, type Exchange } from '../core/fetch-transport.ts'
import type { TimeSource } from '../core/ports.ts'
import { orTimeout } from './or-timeout.ts'

/**
 * Sends a request and reads its response. Rejects after the timeout even if `AbortController` does
 * not exist, as in Hermes without React Native, or has no effect on `fetch`.
 */
export const exchangeOrGiveUp =
  (send: typeof fetch, time: TimeSource): Exchange =>
  (url, init, ms) =>
    orTimeout(
      time,
      ms,
      typeof AbortController === 'undefined'
        ? send(url, init).then(readAnswer)
        : exchangeWith(send, time)(url, init, ms),
    )
