/** The start line and header of a request, with `Host`. */
export function head(line: string, headers: Record<string, string | number> = {}): string {
  const fields = Object.entries({ host: 'intake', ...headers })
  return `${line} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

export function request(
  line: string,
  headers: Record<string, string | number>,
  body: Buffer | string,
): Buffer {
  const length = { 'content-length': Buffer.byteLength(body) }
  return Buffer.concat([Buffer.from(head(line, { ...length, ...headers })), Buffer.from(body)])
}

export const json = { 'content-type': 'application/json' }
export const boundary = 'hostile'
export const form = { 'content-type': `multipart/form-data; boundary=${boundary}` }
