import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'
import { gunzip } from '../gunzip.ts'
import { createNodeCounter, nodeBytes } from '../json-nodes.ts'
import { decodeJson, exactValue, parseJson, parseText, smallJsonBytes } from '../json.ts'
import { readBody } from '../read-body.ts'
import type { Turns } from '../turns.ts'
import { contentCoding, contentEncoding } from './content-encoding.ts'

interface JsonBodyOptions {
  jsonBytesMax: number
  nodesMax: number
  turns: Turns
}

/**
 * Accepts `application/json` in UTF-8, plain or compressed with gzip. The size on the wire is
 * limited by the `bodyLimit` of each route.
 *
 * What is over a limit is refused before it is parsed, and the memory that the parsed document takes
 * comes out of the budget of bytes in flight. What it holds is not checked here (`checkJson`).
 *
 * @param options.jsonBytesMax the most bytes of JSON, after decompression
 * @param options.nodesMax the most members and elements
 * @param options.turns in which large documents are parsed; one for the process
 */
export const jsonBody = fp(
  async (app: FastifyInstance, options: JsonBodyOptions) => {
    await app.register(contentEncoding, { accepted: ['gzip'] })
    app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
      const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers['content-type'] ?? '')
      if (charset?.[1] !== undefined && charset[1].toLowerCase() !== 'utf-8') {
        throw new IntakeError('unsupported_media_type', 'Send the JSON in UTF-8.')
      }
      const body = await readBody(request)
      const isGzip = contentCoding(request) === 'gzip'
      if (isGzip || body.length > smallJsonBytes) return parseInTurns(body, request, options)
      const charge = (bytes: number) => request.bodyLease.extend(bytes)
      return parseJson(body, { nodesMax: options.nodesMax, charge })
    })
  },
  { name: 'json-body' },
)

/** Parses a large or compressed document in turns with others, between which small ones are parsed. */
async function parseInTurns(
  body: Buffer,
  request: FastifyRequest,
  { jsonBytesMax, nodesMax, turns }: JsonBodyOptions,
): Promise<unknown> {
  const charge = (bytes: number) => request.bodyLease.extend(bytes)
  const counter = createNodeCounter(nodesMax)
  const isGzip = contentCoding(request) === 'gzip'
  const onChunk = (chunk: Buffer) => {
    charge(chunk.length)
    counter.add(chunk)
  }
  const json = isGzip ? await gunzip(body, { bytesMax: jsonBytesMax, onChunk }) : body
  if (json.length <= smallJsonBytes) return parseJson(json, { nodesMax, charge })
  const text = await turns.take(() => {
    charge((isGzip ? counter.nodes : counter.add(json)) * nodeBytes)
    return decodeJson(json)
  })
  const parsed = await turns.take(() => parseText(text))
  return parsed.isRounded ? turns.take(() => exactValue(text, parsed)) : parsed.value
}
