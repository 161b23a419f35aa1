import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setImmediate as immediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { errorCatalogue, type ErrorCode } from '@intake/contract'
import { secret } from '../support.ts'

export interface Answer {
  status: number
  body: { code?: string; id?: string; results?: unknown[]; attachments?: { status: string }[] }
}

/** Sends a request over a real socket, cut into segments, and reads the response. */
export async function exchange(
  app: FastifyInstance,
  request: {
    path: string
    headers: Record<string, string>
    body: Buffer
    /**
     * Positions at which the body is cut into segments, in any order. The event loop turns after
     * each segment.
     */
    cuts?: number[]
    /** Sends each segment as an HTTP chunk. */
    chunked?: boolean
  },
): Promise<Answer> {
  const { path, body, cuts = [], chunked = false } = request
  const length = chunked
    ? { 'transfer-encoding': 'chunked' }
    : { 'content-length': String(body.length) }
  const sent = httpRequest({
    host: '127.0.0.1',
    port: (app.server.address() as AddressInfo).port,
    path,
    method: 'POST',
    headers: { 'x-api-key': secret, ...request.headers, ...length },
    agent,
  })
  sent.setNoDelay(true)
  const responded = once(sent, 'response') as Promise<[IncomingMessage]>
  const places = [...cuts.map((at) => at % (body.length + 1)), body.length]
  let from = 0
  for (const to of places.toSorted((a, b) => a - b)) {
    if (to > from) sent.write(body.subarray(from, to))
    from = to
    await immediate()
  }
  sent.end()
  const [response] = await responded
  return { status: response.statusCode ?? 0, body: (await json(response)) as Answer['body'] }
}

/** Reuses connections. If the gateway leaves a part of a body unread, the next request fails. */
const agent = new Agent({ keepAlive: true })

/**
 * Whether the request was refused. Throws if the gateway must never send this response to a
 * complete request.
 */
export function isRefused({ status, body }: Answer): boolean {
  if (status < 300) return false
  const code = body.code as ErrorCode
  const known = errorCatalogue[code] as { status: number } | undefined
  if (known?.status !== status || status >= 500 || code === 'unauthorized') {
    throw new Error(`${status} ${code}`)
  }
  return true
}

/** The effect of one transmission fault on a body. */
export interface Damage {
  kind: 'flip' | 'cut' | 'remove' | 'repeat'
  at: number
  bit: number
}

export function damage(body: Buffer, faults: Damage[]): Buffer {
  let damaged = Buffer.from(body)
  for (const { kind, at, bit } of faults) {
    if (damaged.length === 0) return damaged
    const place = at % damaged.length
    if (kind === 'flip') damaged[place]! ^= 1 << bit
    else if (kind === 'cut') damaged = damaged.subarray(0, place)
    else {
      const [before, behind] = [damaged.subarray(0, place), damaged.subarray(place + bit)]
      const middle = kind === 'remove' ? [] : [damaged.subarray(place, place + bit + 1)]
      damaged = Buffer.concat([before, ...middle, ...middle, behind])
    }
  }
  return damaged
}
