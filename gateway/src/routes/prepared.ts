import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** Serves bytes that are the same for every request. They are compressed only once. */
export function preparedRoute(
  app: FastifyInstance,
  url: string,
  content: { type: string; body: Buffer; headers?: Readonly<Record<string, string>> },
): void {
  const { type, body, headers } = content
  const plain = { body, etag: etagOf(body) }
  const compressed = gzipSync(body, { level: 9 })
  const gzip = { body: compressed, etag: etagOf(compressed) }

  // Registers HEAD explicitly, because the HEAD route that Fastify derives from a GET route sends
  // `Content-Length: 0` with a 304.
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler(request, reply) {
      const isGzip = acceptsGzip(request.headers['accept-encoding'])
      const { body: sent, etag } = isGzip ? gzip : plain
      reply.headers({
        etag,
        vary: 'Accept-Encoding',
        'cache-control': 'public, max-age=300',
        'x-content-type-options': 'nosniff',
        ...headers,
      })
      if (isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send()
      if (isGzip) reply.header('content-encoding', 'gzip')
      return reply.type(type).send(sent)
    },
  })
}

const etagOf = (body: Buffer) =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`

/** Whether an `Accept-Encoding` names gzip with a weight above zero. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  return /(^|,)\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/i.test(String(header ?? ''))
}

/** Whether an `If-None-Match` names the tag; weak tags compare like strong tags. */
function isKnown(etag: string, header: string | undefined): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.some((tag) => tag === etag || tag === '*')
}
