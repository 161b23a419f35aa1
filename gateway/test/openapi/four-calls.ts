import { once } from 'node:events'
import { request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer, text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { serve } from '@intake/test-kit/serve'
import { images, listen, startGateway, type TestGateway } from '../support.ts'

/** An error code that the OpenAPI document does not list. */
const unlistedCode = 'added_later'

/** The results of the four calls with which every generated client is tried. */
export interface CallResults {
  /** The result of `createLog`. */
  log: { id: string }
  /** The results of `createLogBatch` with a valid and an invalid event. */
  batch: EntryResult[]
  /**
   * The results of the same batch, sent through a proxy that replaces the code of the rejected
   * entry.
   */
  unlisted: EntryResult[]
  /** The result of `createFeedback` with a file. */
  feedback: { id: string; attachments: { status: string; bytes: number }[] }
}

interface EntryResult {
  status: string
  id?: string | null | undefined
  code?: string | null | undefined
}

/**
 * Starts a listening gateway, and a proxy in front of it that replaces the code of a rejected
 * entry.
 */
export async function startCallees(
  t: Test,
): Promise<{ gateway: TestGateway; url: string; unlistedUrl: string; image: Buffer }> {
  const gateway = await startGateway(t)
  const port = await listen(gateway)
  const forward = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url, headers } = request
    const forwarded = sendRequest({ host: '127.0.0.1', port, method, path: url, headers })
    forwarded.end(await buffer(request))
    const [received] = await once(forwarded, 'response')
    const body = (await text(received)).replaceAll('"invalid_request"', `"${unlistedCode}"`)
    response.writeHead(received.statusCode, { 'content-type': received.headers['content-type'] })
    response.end(body)
  }
  const proxy = await serve(t, (request, response) => void forward(request, response))
  return {
    gateway,
    url: `http://127.0.0.1:${port}`,
    unlistedUrl: proxy.url,
    image: images.png,
  }
}

/** Checks that the client read every response, and that what it sent is stored as intended. */
export function checkCalls(t: Test, gateway: TestGateway, results: CallResults): void {
  const { log, batch, unlisted, feedback } = results
  t.match(batch, [
    { status: 'accepted', id: String },
    { status: 'rejected', code: 'invalid_request' },
  ])
  t.match(unlisted, [
    { status: 'accepted', id: String },
    { status: 'rejected', code: unlistedCode },
  ])
  const device = {
    os: 'Android',
    battery_level: 81.5,
    is_emulator: false,
    supported_abis: ['arm64-v8a'],
    version_code: 4_200_000_000,
  }
  const params = { screen: 'home', items: 3, ratio: 0.5, nested: { list: [1, 'a', true] } }
  t.match(gateway.rows('logs'), [
    { id: log.id, event: 'screen_view', device, params },
    { id: batch[0]?.id, event: 'first', client_timestamp: '2026-11-21T06:30:00.250Z' },
    { id: unlisted[0]?.id, event: 'first' },
  ])
  t.equal(gateway.rows('logs').length, 3, 'nothing is stored twice')
  t.match(feedback.attachments, [{ status: 'stored', bytes: images.png.length }])
  t.match(gateway.rows('feedback'), [
    { id: feedback.id, text: 'It broke.', email: 'user@example.com', device },
  ])
  const bodies = [...gateway.objects.values()].map(({ body }) => body)
  t.same(bodies, [images.png])
}
