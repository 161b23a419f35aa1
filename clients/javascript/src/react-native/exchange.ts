import { exchangeWith, readAnswer, type Exchange } from '../core/fetch-transport.ts'
import type { TimeSource } from '../core/ports.ts'

/**
 * Sends a request and reads its response. Rejects after the timeout even if `AbortController` does
 * not exist, as in Hermes without React Native, or has no effect on `fetch`.
 */
export const exchangeOrGiveUp =
  (sendAny: typeof fetch, time: TimeSource): Exchange =>
  (url, init, ms) =>
    new Promise((resolve, reject) => {
      const send: typeof fetch = (...given) => sendAny(...given).then(withoutStream)
      const timer = time.setTimeout(() => reject(new Error('timeout')), ms)
      const exchanging =
        typeof AbortController === 'undefined'
          ? send(url, init).then(readAnswer)
          : exchangeWith(send, time)(url, init, ms)
      void exchanging.then(resolve, reject).then(() => time.clearTimeout(timer))
    })

/** A stream of the body cannot be decoded, because Hermes has no `TextDecoder`. */
const withoutStream = (response: Response): Response =>
  ({ status: response.status, headers: response.headers, text: () => response.text() }) as Response
