import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'

export interface RawRequest {
  method: string
  /** The target of the request line, sent exactly as it is. */
  target: string
  headers?: Record<string, string>
  body?: string
}

/**
 * Sends the request and reads until the connection closes. Adds the fields `host` and `connection`
 * if the request does not have them. Resolves to '' if there is no response.
 */
export async function sendRaw(port: number, request: RawRequest): Promise<string> {
  const { method, target, headers = {}, body = '' } = request
  const all = { host: `127.0.0.1:${port}`, connection: 'close', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect({ host: '127.0.0.1', port })
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  // This error is expected: the server does not read the body of a refused request, and resets the
  // connection. The event 'close' follows.
  socket.on('error', () => undefined)
  socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  socket.setTimeout(60_000, () => socket.destroy())
  await once(socket, 'close')
  return text
}

export const statusOf = (response: string): string => response.slice(9, 12)

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/**
 * Returns headers with a correct signature (version 4) for the path `canonicalPath`. Default: the
 * path of the target.
 */
export function sign(
  request: RawRequest & { canonicalPath?: string },
  { accessKey, secretKey, port }: { accessKey: string; secretKey: string; port: number },
): Record<string, string> {
  const { method, target, headers = {}, body = '' } = request
  const [path = '', query = ''] = target.split('?')
  const date = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const day = date.slice(0, 8)
  const hash = headers['x-amz-content-sha256'] ?? sha256(body)
  const signed: Record<string, string> = {
    host: headers['host'] ?? `127.0.0.1:${port}`,
    'x-amz-content-sha256': hash,
    'x-amz-date': date,
  }
  const names = Object.keys(signed).join(';')
  const canonical = [
    method,
    request.canonicalPath ?? path,
    query.split('&').toSorted().join('&'),
    ...Object.entries(signed).map(([name, value]) => `${name}:${value}`),
    '',
    names,
    hash,
  ].join('\n')
  const scope = `${day}/us-east-1/s3/aws4_request`
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretKey}`)
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const signature = hmac(key, text).toString('hex')
  return {
    ...headers,
    ...signed,
    'content-length': String(Buffer.byteLength(body)),
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}
