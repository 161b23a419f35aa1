import type { FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'
import { bodyTooLarge, requireLease } from './body-lease.ts'
import { Chunks } from './chunks.ts'
import { beginStep, chunksTooSmall, createChunkLimit, exchangeOf } from '@intake/http-edge'

/**
 * Reads the body of a request to its end, and charges each chunk to the byte budget as it arrives. The
 * `bodyLimit` of the route is the maximum size.
 *
 * @throws {IntakeError} `body_too_large`, `busy`, or `malformed_http` when the body ends early
 */
export function readBody(request: FastifyRequest): Promise<Buffer> {
  const { raw, routeOptions } = request
  const lease = requireLease(request)
  return new Promise((resolve, reject) => {
    const bytesMax = routeOptions.bodyLimit
    const isAcceptable = createChunkLimit()
    const chunks = new Chunks({
      bytesMax,
      onKeep(chunk) {
        if (!isAcceptable(chunk)) throw chunksTooSmall()
        lease.extend(chunk.length)
      },
    })
    function onData(chunk: Buffer): void {
      try {
        if (!chunks.add(chunk)) throw bodyTooLarge(bytesMax)
      } catch (error) {
        fail(error as Error)
      }
    }
    function onEnd(): void {
      stop()
      resolve(chunks.concat())
    }
    function onClose(): void {
      fail(new IntakeError('malformed_http', 'The body ended early.'))
    }
    function fail(error: Error): void {
      stop()
      reject(error)
    }
    function stop(): void {
      raw.off('data', onData).off('end', onEnd).off('close', onClose)
    }
    raw.on('data', onData).on('end', onEnd).on('close', onClose)
    const exchange = exchangeOf(raw)
    if (exchange !== undefined) beginStep(exchange, fail)
  })
}
