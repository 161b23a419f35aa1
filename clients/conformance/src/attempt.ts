import { gunzipSync } from 'node:zlib'
import type { SeenRequest } from '@intake/sandbox'

export interface SentEvent {
  id: string | undefined
  event: string
  params: Record<string, unknown>
}

export interface Attempt {
  readonly seen: SeenRequest
  readonly path: string
  /** The size of the body before decompression. */
  readonly bytes: number
  /** The body after decompression. */
  readonly body: Buffer
  /**
   * The log events in the body; empty for feedback, and if the body is incomplete or unreadable.
   */
  readonly events: readonly SentEvent[]
}

/** Parses as much of a request as has arrived. Called again when more of it has arrived. */
export function readAttempt(seen: SeenRequest): Attempt {
  const sent = Buffer.concat(seen.chunks)
  const path = seen.url.split('?', 1)[0] ?? ''
  const body = decompress(sent, seen.headers['content-encoding'])
  return {
    seen,
    path,
    bytes: sent.length,
    body,
    events: seen.isComplete ? eventsOf(path, body) : [],
  }
}

/** The payload of a feedback form; undefined if the form cannot be read. */
export async function payloadOf({
  seen,
  body,
}: Attempt): Promise<{ feedback: { id?: string; text?: string } } | undefined> {
  const type = seen.headers['content-type'] ?? ''
  try {
    const form = await new Response(body, { headers: { 'content-type': type } }).formData()
    const payload = form.get('payload')
    if (typeof payload !== 'string') return undefined
    return JSON.parse(payload) as { feedback: { id?: string; text?: string } }
  } catch {
    return undefined
  }
}

function decompress(bytes: Buffer, encoding: string | undefined): Buffer {
  if (encoding !== 'gzip') return bytes
  try {
    return gunzipSync(bytes)
  } catch {
    return Buffer.alloc(0)
  }
}

function eventsOf(path: string, body: Buffer): SentEvent[] {
  try {
    const sent = JSON.parse(body.toString()) as { log?: SentEvent; logs?: SentEvent[] }
    const logs = path === '/api/log' ? [sent.log] : (sent.logs ?? [])
    return logs.filter((log) => log !== undefined)
  } catch {
    return []
  }
}
