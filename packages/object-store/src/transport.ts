import http from 'node:http'
import https from 'node:https'

type Transport = Pick<typeof http, 'request'>

/**
 * The HTTP transport of the S3 client, with what the client lacks: every request that has not
 * ended after `timeoutMs` is destroyed together with its socket, so that a frozen server cannot
 * hold one for ever.
 */
export function transportWithTimeout(protocol: string, timeoutMs: number): Transport {
  const { request } = protocol === 'https:' ? https : http
  const requestWithDeadline = (
    options: http.RequestOptions,
    onResponse: (response: http.IncomingMessage) => void,
  ): http.ClientRequest => {
    const started = request(options, onResponse)
    const timer = setTimeout(() => {
      started.destroy(new Error(`no answer from the object store within ${timeoutMs} ms`))
    }, timeoutMs)
    return started.once('close', () => clearTimeout(timer))
  }
  return { request: requestWithDeadline as Transport['request'] }
}
