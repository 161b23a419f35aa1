import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { CapturedResponse } from './capture-response.ts'
import type { Fault } from './faults.ts'

/** A request to Intake, as it arrived. Its members change until `endedAt` is set. */
export interface SeenRequest {
  readonly method: string
  /** The request's target, including the query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** The time (`performance.now()`) when the head had arrived. */
  readonly startedAt: number
  readonly fault: Fault | undefined
  /** The chunks of the body that have arrived so far, as sent. */
  readonly chunks: Buffer[]
  /** True once the whole body has arrived. */
  isComplete: boolean
  /**
   * The response of the gateway, whether or not it was sent; undefined until the gateway has
   * decided on it, and if the gateway did not get the request.
   */
  decided: CapturedResponse | undefined
  /** The status that was sent; undefined if no response was sent. */
  status: number | undefined
  /**
   * The time (`performance.now()`) when the response had been sent or the connection had closed.
   */
  endedAt: number | undefined
}

/**
 * Called when a request begins, when its body is complete, when the gateway has decided on the
 * response, and when the request ends.
 */
export type OnRequest = (request: SeenRequest) => void

/**
 * Follows a request without consuming its body. Call it before anything reads the body.
 *
 * @returns the function to call when the gateway has decided on the response
 */
export function seeRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { fault, onRequest }: { fault: Fault | undefined; onRequest: OnRequest },
): { onDecided: (decided: CapturedResponse) => void } {
  const seen: SeenRequest = {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    startedAt: performance.now(),
    fault,
    chunks: [],
    isComplete: false,
    decided: undefined,
    status: undefined,
    endedAt: undefined,
  }
  copyBody(request, seen, onRequest)
  response.once('close', () => {
    seen.endedAt = performance.now()
    if (response.headersSent) seen.status = response.statusCode
    onRequest(seen)
  })
  onRequest(seen)
  return {
    onDecided(decided) {
      seen.decided = decided
      onRequest(seen)
    },
  }
}

/** Copies the whole body: what the HTTP parser has already read, and what it reads later. */
function copyBody(request: IncomingMessage, seen: SeenRequest, onRequest: OnRequest): void {
  const waiting = request.read() as Buffer | null
  if (waiting !== null) {
    seen.chunks.push(waiting)
    request.unshift(waiting)
  }
  if (request.complete) {
    seen.isComplete = true
    return
  }
  const { push } = request
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null) seen.chunks.push(Buffer.from(chunk))
    else {
      seen.isComplete = request.complete
      onRequest(seen)
    }
    return push.call(request, chunk, encoding)
  }
}
