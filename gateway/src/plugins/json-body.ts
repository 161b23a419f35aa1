import { createGunzip } from 'node:zlib'
import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'
import { parseJson } from '../json.ts'
import { readBody } from '../read-body.ts'
import { contentCoding, contentEncoding } from './content-encoding.ts'

const chunkBytes = 64 * 1024
/** No JSON of real events gets this much smaller; what does is made to cost us much for little. */
const expansionMax = 100
/** Below this size it may. */
const expansionFreeBytes = 1024 * 1024

/**
 * Accepts `application/json` in UTF-8, plain or compressed with gzip. The size on the wire is
 * limited by the `bodyLimit` of each route.
 *
 * @param options.jsonBytesMax the most bytes of JSON, after decompression
 */
export const jsonBody = fp(
  async (app: FastifyInstance, options: { jsonBytesMax: number }) => {
    await app.register(contentEncoding, { accepted: ['gzip'] })
    app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
      const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers['content-type'] ?? '')
      if (charset?.[1] !== undefined && charset[1].toLowerCase() !== 'utf-8') {
        throw new IntakeError('unsupported_media_type', 'Send the JSON in UTF-8.')
      }
      const body = await readBody(request)
      if (contentCoding(request) !== 'gzip') return parseJson(body)
      return parseJson(await decompress(body, options.jsonBytesMax, request))
    })
  },
  { name: 'json-body' },
)

/** Decompresses a body piece by piece, each taken out of the budget of bytes in flight. */
async function decompress(
  body: Buffer,
  bytesMax: number,
  request: FastifyRequest,
): Promise<Buffer> {
  const gunzip = createGunzip({ chunkSize: chunkBytes })
  gunzip.end(body)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bytesMax || bytes > Math.max(expansionFreeBytes, expansionMax * body.length)) {
        const detail = `After decompression: at most ${bytesMax} bytes, ${expansionMax} times as many.`
        throw new IntakeError('body_too_large', detail)
      }
      request.bodyLease.extend(chunk.length)
      chunks.push(chunk)
    }
  } catch (cause) {
    if (cause instanceof IntakeError) throw cause
    throw new IntakeError('invalid_encoding', 'The gzip stream is damaged or cut short.', { cause })
  }
  return Buffer.concat(chunks)
}
