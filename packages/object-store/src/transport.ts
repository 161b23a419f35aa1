import http from 'node:http'
import https from 'node:https'

type Transport = Pick<typeof http, 'request'>

/**
 * Creates the HTTP transport of the S3 client. It adds a timeout, which the client lacks: after
 * `timeoutMs`, an unfinished request is destroyed together with its socket. A server that does not
 * respond would otherwise hold the request indefinitely.
 */
export function transportWithTimeout(protocol: string, timeoutMs: number): Transport {
  const { request } = protocol === 'https:' ? https : http
  const requestWithTimeout = (
    options: http.RequestOptions,
    onResponse: (response: http.IncomingMessage) => void,
  ): http.ClientRequest => {
    const started = request(options, onResponse)
    const timer = setTimeout(() => {
      started.destroy(new Error(`no response from the object store within ${timeoutMs} ms`))
    }, timeoutMs)
    return started.once('close', () => clearTimeout(timer))
  }
  return { request: requestWithTimeout as Transport['request'] }
}
