import type { FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'
import { requireLease } from '../request.ts'
import { bodyTooLarge } from './body-lease.ts'
import { Chunks } from './chunks.ts'
import { beginStep, chunksTooSmall, createChunkLimit, exchangeOf } from '@intake/http-edge'

/**
 * Reads the body of a request to its end, and charges each chunk to the byte budget as it arrives.
 * The `bodyLimit` of the route is the maximum size.
 *
 * @param done called once, with the body or an error: `body_too_large`, `busy`, or (if the body
 * ends early) `malformed_http`
 */
export function readBody(
  request: FastifyRequest,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const { raw } = request
  const lease = requireLease(request)
  const bytesMax = request.routeOptions.bodyLimit
  const isAcceptable = createChunkLimit()
  let isOver = false
  const chunks = new Chunks({
    bytesMax,
    onKeep(chunk) {
      if (!isAcceptable(chunk)) throw chunksTooSmall()
      lease.extend(chunk.length)
    },
  })
  function onData(chunk: Buffer): void {
    if (isOver) return
    try {
      if (!chunks.add(chunk)) throw bodyTooLarge(bytesMax)
    } catch (error) {
      fail(error as Error)
    }
  }
  function onEnd(): void {
    if (isOver) return
    isOver = true
    done(null, chunks.concat())
  }
  // This listener also runs after a normal end, and then does nothing. Removing it at the end would
  // cost more.
  function onClose(): void {
    if (!isOver) fail(new IntakeError('malformed_http', 'The body ended early.'))
  }
  function fail(error: Error): void {
    if (isOver) return
    isOver = true
    raw.off('data', onData)
    done(error)
  }
  raw.on('data', onData).on('end', onEnd).on('close', onClose)
  const exchange = exchangeOf(raw)
  if (exchange !== undefined) beginStep(exchange, fail)
}
