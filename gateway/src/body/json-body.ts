import { callbackify } from 'node:util'
import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'
import { failable, type Turns } from '@intake/http-edge'
import { parseJson, smallJsonBytes, type ParsedJson } from '@intake/json'
import type { KeyLimiter } from '../admission/key-limits.ts'
import { requireApiKey, requireLease, type ByteLease } from '../request.ts'
import { gunzip } from './gunzip.ts'
import { parseInTurns } from './parse-in-turns.ts'
import { readBody } from './read-body.ts'
import { contentCoding } from './content-encoding.ts'

interface JsonBodyOptions {
  jsonBytesMax: number
  nodesMax: number
  turns: Turns
  limiter: Pick<KeyLimiter, 'requireShare'>
}

/**
 * Accepts `application/json` in UTF-8, plain or gzipped. The `bodyLimit` of each route limits the
 * size on the wire.
 *
 * A large body that exceeds a limit is refused before it is parsed. The memory of the parsed
 * document counts towards the bytes in flight. The body of the request becomes a `ParsedJson`;
 * `checkJson` checks its content later.
 *
 * @param options.limiter may refuse a request by its JSON before that is parsed
 * @param options.jsonBytesMax after decompression
 * @param options.turns schedules the parsing of large documents; all routes of a process share it
 */
export const jsonBody = fp(
  async (app: FastifyInstance, options: JsonBodyOptions) => {
    app.addContentTypeParser('application/json', (request: FastifyRequest, _payload, done) => {
      const charset = charsetParameter.exec(request.headers['content-type'] ?? '')?.[1]
      if (charset !== undefined && !utf8Labels.has(charset.toLowerCase())) {
        done(new IntakeError('unsupported_media_type', 'Send the JSON in UTF-8.'))
        return
      }
      const lease = requireLease(request)
      readBody(request, lease, (error, body) => {
        if (body === undefined) done(error)
        else if (
          body.length > smallJsonBytes ||
          request.headers['content-encoding'] !== undefined
        ) {
          parseLater({ body, request, lease }, options, done)
        } else parseNow({ body, request, lease }, options, done)
      })
    })
  },
  { name: 'json-body' },
)

const charsetParameter = /;\s*charset\s*=\s*["']?\s*([^\s;"']+)/i

/** The labels of UTF-8 in the Encoding Standard, and the labels of ASCII, a subset of UTF-8. */
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

interface Arrived {
  body: Buffer
  request: FastifyRequest
  lease: ByteLease
}

type Done = (error: Error | null, body?: ParsedJson) => void

/** Parses a small body without creating a promise, to save time. Most bodies are small. */
function parseNow(
  { body, request, lease }: Arrived,
  { nodesMax, limiter }: JsonBodyOptions,
  done: Done,
): void {
  let parsed: ParsedJson
  try {
    limiter.requireShare(requireApiKey(request), body)
    parsed = parseJson(body, { nodesMax, charge: lease.extend })
  } catch (error) {
    done(error as Error)
    return
  }
  done(null, parsed)
}

const parseLater = callbackify((arrived: Arrived, options: JsonBodyOptions): Promise<ParsedJson> =>
  failable(arrived.request.exchange, parseLarge(arrived, options)),
)

async function parseLarge(
  { body, request, lease }: Arrived,
  { jsonBytesMax, nodesMax, turns, limiter }: JsonBodyOptions,
): Promise<ParsedJson> {
  const charge = lease.extend
  const apiKey = requireApiKey(request)
  const options = { turns, account: apiKey.id, nodesMax, charge }
  if (contentCoding(request) !== 'gzip') {
    limiter.requireShare(apiKey, body)
    return parseInTurns(body, options)
  }
  let isFirst = true
  const json = await gunzip(body, {
    bytesMax: jsonBytesMax,
    takeTurn: (work) => turns.take(apiKey.id, work),
    takePooled(work) {
      const turn = turns.takePooled(apiKey.id, () => {
        if (request.exchange?.isOver !== true) return work()
        throw new IntakeError('malformed_http', 'The client has disconnected.')
      })
      // The body stays in memory until its turn, even if the client disconnects.
      return lease.retainWhile(turn)
    },
    onChunk(chunk) {
      // The first chunk names the device, so a request that is refused is decompressed no further.
      if (isFirst) limiter.requireShare(apiKey, chunk)
      isFirst = false
      charge(chunk.length)
    },
  })
  return parseInTurns(json, options)
}
