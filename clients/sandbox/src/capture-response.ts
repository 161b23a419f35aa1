import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** A response of the gateway that was captured before it was sent. */
export interface CapturedResponse {
  status: number
  headers: OutgoingHttpHeaders
  body: Buffer
}

/**
 * Calls `serve` and resolves to the response that it makes. The response is not sent.
 *
 * @returns undefined if the connection closed first
 */
export function captureResponse(
  response: ServerResponse,
  serve: () => void,
): Promise<CapturedResponse | undefined> {
  return new Promise((resolve) => {
    const head: { status: number; headers: OutgoingHttpHeaders } = { status: 200, headers: {} }
    // It is enough to replace these functions: the routes write a response with one call of each.
    Object.assign(response, {
      writeHead(status: number, headers: OutgoingHttpHeaders = {}) {
        Object.assign(head, { status, headers })
        return response
      },
      end(body: string | Buffer | null) {
        Reflect.deleteProperty(response, 'writeHead')
        Reflect.deleteProperty(response, 'end')
        resolve({ ...head, body: Buffer.from(body ?? '') })
        return response
      },
    })
    response.once('close', () => resolve(undefined))
    serve()
  })
}
