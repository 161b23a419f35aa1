import http from 'node:http'
import https from 'node:https'

type Transport = Pick<typeof http, 'request'>

/**
 * Adds the timeout that the S3 client lacks: an unfinished request is destroyed with its socket.
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
