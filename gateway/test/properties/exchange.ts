import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setImmediate as immediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { errorCatalogue, type ErrorCode } from '@intake/contract'
import { listen, secret, startGateway } from '../support.ts'
import { smallBudget } from './stored.ts'

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
  for (const segment of segments(body, cuts)) {
    if (segment.length > 0) sent.write(segment)
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

/** The bytes between these positions, which may have any order and be beyond the end. */
export function segments(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...cuts.map((at) => at % (bytes.length + 1)), bytes.length]
  const inOrder = places.toSorted((a, b) => a - b)
  return inOrder.map((to, n) => bytes.subarray(inOrder[n - 1] ?? 0, to))
}

/** The effect of one transmission fault on a body. */
export interface Damage {
  kind: 'flip' | 'cut' | 'remove' | 'repeat'
  at: number
  bit: number
}

/** At most two faults. */
export const anyFaults: Arbitrary<Damage[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('flip', 'flip', 'flip', 'cut', 'remove', 'repeat'),
    at: fc.nat(),
    bit: fc.nat(7),
  }),
  { maxLength: 2 },
)

/** Starts a gateway that listens and has little room for bytes in flight. */
export async function startServer(t: Test, env: Record<string, string> = {}) {
  const gateway = await startGateway(t, { env: { ...smallBudget, ...env } })
  await listen(gateway)
  return gateway
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
