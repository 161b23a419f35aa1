import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'
import { failable } from '@intake/http-edge'
import { requireApiKey } from '../admission/authenticate.ts'
import type { Turns } from '../admission/fairness/turns.ts'
import { requireLease } from './body-lease.ts'
import { gunzip } from './gunzip.ts'
import { createNodeCounter } from './json-nodes.ts'
import { parseJson, smallJsonBytes } from './json.ts'
import { parseInTurns } from './parse-in-turns.ts'
import { readBody } from './read-body.ts'
import { contentCoding, contentEncoding } from './content-encoding.ts'

interface JsonBodyOptions {
  jsonBytesMax: number
  nodesMax: number
  turns: Turns
}

/**
 * Accepts `application/json` in UTF-8, plain or gzipped. The `bodyLimit` of each route limits the size
 * on the wire.
 *
 * A body over a limit is refused before it is parsed, and the memory of the parsed document counts
 * towards the bytes in flight. The content is checked elsewhere (`checkJson`).
 *
 * @param options.jsonBytesMax maximum bytes of JSON, after decompression
 * @param options.nodesMax maximum members and elements
 * @param options.turns for parsing large documents; one per process
 */
export const jsonBody = fp(
  async (app: FastifyInstance, options: JsonBodyOptions) => {
    await app.register(contentEncoding, { accepted: ['gzip'] })
    app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
      const charset = charsetParameter.exec(request.headers['content-type'] ?? '')?.[1]
      if (charset !== undefined && !utf8Labels.has(charset.toLowerCase())) {
        throw new IntakeError('unsupported_media_type', 'Send the JSON in UTF-8.')
      }
      const body = await readBody(request)
      if (contentCoding(request) !== 'gzip' && body.length <= smallJsonBytes) {
        const lease = requireLease(request)
        const charge = (bytes: number) => lease.extend(bytes)
        return parseJson(body, { nodesMax: options.nodesMax, charge })
      }
      return failable(request.raw, parseLarge(body, request, options))
    })
  },
  { name: 'json-body' },
)

const charsetParameter = /;\s*charset\s*=\s*["']?\s*([^\s;"']+)/i

/** The labels of UTF-8 in the Encoding Standard, and those of ASCII, which is a part of it. */
const utf8Labels: ReadonlySet<string> = new Set([
  'utf-8',
  'utf8',
  'unicode-1-1-utf-8',
  'unicode11utf8',
  'unicode20utf8',
  'x-unicode20utf8',
  'us-ascii',
  'ascii',
])

async function parseLarge(
  body: Buffer,
  request: FastifyRequest,
  { jsonBytesMax, nodesMax, turns }: JsonBodyOptions,
): Promise<unknown> {
  const lease = requireLease(request)
  const charge = (bytes: number) => lease.extend(bytes)
  const options = { turns, account: requireApiKey(request).id, nodesMax, charge }
  if (contentCoding(request) !== 'gzip') return parseInTurns(body, options)
  const counter = createNodeCounter(nodesMax)
  let nodes = 0
  const json = await gunzip(body, {
    bytesMax: jsonBytesMax,
    onChunk(chunk) {
      charge(chunk.length)
      nodes = counter.add(chunk)
    },
  })
  return parseInTurns(json, { ...options, nodes })
}
