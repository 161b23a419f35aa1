import type { IncomingMessage, ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import { errorCatalogue, problemType } from '@intake/contract'
import { captureResponse, type CapturedResponse } from './capture-response.ts'
import { codeOf, retryAfterOf, type Fault } from './faults.ts'

export interface FaultyExchange {
  fault: Fault
  request: IncomingMessage
  response: ServerResponse
  serve: () => void
  /** Undoes the acceptance of a log event. */
  takeBack: (id: string) => void
  /**
   * Called with the gateway's response. The fault may still change it or keep it from being sent.
   */
  onDecided: (response: CapturedResponse) => void
}

/** Serves a request as its fault says. Resolves when nothing more will be written. */
export async function serveFault(exchange: FaultyExchange): Promise<void> {
  const { fault, request, response } = exchange
  if (fault.resetAfterBytes !== undefined) {
    await readBody(request, fault.resetAfterBytes)
    if (await passed(exchange)) request.socket.resetAndDestroy()
    return
  }
  if (fault.status !== undefined && fault.store === undefined) {
    if (!(await readBody(request)) || !(await passed(exchange))) return
    sendStatus(response, fault)
    return
  }
  const decided = await captureResponse(response, exchange.serve)
  if (decided === undefined) return
  exchange.onDecided(decided)
  const answer = changeEntries(decided, exchange)
  if (!(await passed(exchange))) return
  if (fault.status !== undefined && decided.status < 300) sendStatus(response, fault)
  else if (fault.loseResponse) request.socket.destroy()
  else if (fault.cutResponse) sendHalf(response, answer)
  else send(response, answer)
}

export function send(response: ServerResponse, { status, headers, body }: CapturedResponse): void {
  response.writeHead(status, headers)
  response.end(body)
}

/** Sends the head and half of the body, and closes the connection. */
function sendHalf(response: ServerResponse, { status, headers, body }: CapturedResponse): void {
  response.writeHead(status, { ...headers, 'content-length': body.length })
  const close = () => response.socket?.destroy()
  response.write(body.subarray(0, body.length >> 1), close)
}

function sendStatus(response: ServerResponse, fault: Fault): void {
  const { status = 500 } = fault
  const code = codeOf(fault)
  const retryAfter = retryAfterOf(fault)
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
  if (fault.location !== undefined) response.setHeader('location', fault.location)
  if (code === undefined) {
    response.writeHead(status, { 'content-type': 'text/html' })
    response.end(`<html><body><h1>${status}</h1><p>This is not Intake.</p></body></html>`)
    return
  }
  response.writeHead(status, { 'content-type': problemType })
  response.end(JSON.stringify(problemOf(code, status)))
}

function problemOf(code: string, status: number): object {
  const known = errorCatalogue[code as keyof typeof errorCatalogue]
  return {
    type: `urn:intake:error:${code}`,
    title: known?.title ?? 'A fault of the sandbox',
    status,
    detail: 'A fault of the sandbox.',
    code,
    errors: [],
    request_id: randomUUID(),
  }
}

interface BatchResult {
  accepted: number
  rejected: number
  results: { status: string; id?: string; code?: string; detail?: string }[]
}

/**
 * Changes the response to a batch: rejects or drops entries that the gateway has accepted, as if
 * the gateway had done so itself. Other responses are not changed.
 */
function changeEntries(
  decided: CapturedResponse,
  { fault, takeBack }: Pick<FaultyExchange, 'fault' | 'takeBack'>,
): CapturedResponse {
  const { rejectEntries, dropEntries } = fault
  const changed = rejectEntries ?? dropEntries
  if (changed === undefined || decided.status !== 207) return decided
  const result = JSON.parse(decided.body.toString()) as BatchResult
  for (const index of changed.indexes ?? [0]) {
    const entry = result.results[index]
    if (entry?.id === undefined) continue
    takeBack(entry.id)
    if (rejectEntries === undefined) {
      result.results[index] = { status: 'dropped', id: entry.id }
      continue
    }
    const { code } = rejectEntries
    result.results[index] = { status: 'rejected', code, detail: 'A fault of the sandbox.' }
    result.accepted--
    result.rejected++
  }
  const body = Buffer.from(JSON.stringify(result))
  return { ...decided, headers: { ...decided.headers, 'content-length': body.length }, body }
}

/**
 * Reads and discards a body.
 *
 * @param bytesMax stops reading after this many bytes
 * @returns false if the connection closed first
 */
async function readBody(request: IncomingMessage, bytesMax = Infinity): Promise<boolean> {
  if (bytesMax === 0) return true
  return new Promise((resolve) => {
    let bytes = 0
    request
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes < bytesMax) return
        request.pause()
        resolve(true)
      })
      .on('end', () => resolve(true))
      .on('close', () => resolve(request.complete))
  })
}

/**
 * Waits for the fault's delay.
 *
 * @returns false if the sender has disconnected meanwhile
 */
async function passed({ fault, request, response }: FaultyExchange): Promise<boolean> {
  const { delayMs } = fault
  if (response.destroyed) return false
  if (delayMs === undefined) return true
  const { socket } = request
  return new Promise((resolve) => {
    const end = (isOpen: boolean) => {
      clearTimeout(timer)
      response.off('close', onGone)
      socket.off('end', onGone)
      if (!isOpen) socket.destroy()
      resolve(isOpen)
    }
    const onGone = () => end(false)
    const timer = setTimeout(() => end(true), delayMs)
    response.on('close', onGone)
    // A killed sender looks the same as a sender that closes only its half of the connection and
    // still reads the response. Both count as disconnected.
    socket.on('end', onGone)
  })
}
