import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** Serves bytes that are the same for every request. They are compressed only once. */
export function preparedRoute(
  app: FastifyInstance,
  url: string,
  content: { type: string; body: Buffer; headers?: Readonly<Record<string, string>> },
): void {
  const { type, body, headers } = content
  const compressed = gzipSync(body, { level: 9 })
  app.get(url, (request, reply) => {
    const isGzip = acceptsGzip(request.headers['accept-encoding'])
    if (isGzip) reply.header('content-encoding', 'gzip')
    return reply
      .headers({
        vary: 'Accept-Encoding',
        'cache-control': 'public, max-age=300',
        'x-content-type-options': 'nosniff',
        ...headers,
      })
      .type(type)
      .send(isGzip ? compressed : body)
  })
}

/** Whether an `Accept-Encoding` names gzip with a weight above zero. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  return /(^|,)\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/i.test(String(header ?? ''))
}
