import { exchangeWith, readAnswer, type Exchange } from '../core/fetch-transport.ts'
import type { TimeSource } from '../core/ports.ts'

/**
 * Sends a request and reads its response. Rejects after the timeout even if `AbortController` does
 * not exist, as in Hermes without React Native, or has no effect on `fetch`.
 */
export const exchangeOrGiveUp =
  (send: typeof fetch, time: TimeSource): Exchange =>
  (url, init, ms) =>
    new Promise((resolve, reject) => {
      const timer = time.setTimeout(() => reject(new Error('timeout')), ms)
      const exchanging =
        typeof AbortController === 'undefined'
          ? send(url, init).then(readAnswer)
          : exchangeWith(send, time)(url, init, ms)
      void exchanging.then(resolve, reject).then(() => time.clearTimeout(timer))
    })
