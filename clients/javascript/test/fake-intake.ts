import { dayMs } from '../src/core/limits.ts'
import type { Answer, OutgoingRequest, Transport } from '../src/core/ports.ts'
import { timeOfUuid } from '../src/core/uuid.ts'

export interface SentLog {
  id: string
  event: string
  params: Record<string, unknown>
  timestamp?: string
  sequence?: number
}

export interface SentBatch {
  bundle_identifier: string
  device: Record<string, unknown>
  device_uuid: string
  unique_user_id: string
  logs: SentLog[]
}

/**
 * The fault of a request. `lost`: the gateway gets the request, but the client gets no response.
 * `unreachable`: the gateway does not get the request either. `halved`: a batch of more than one
 * event is refused as too large.
 */
export type Fault = 'lost' | 'unreachable' | 'halved' | Partial<Answer>

export interface FakeIntake {
  transport: Transport
  /** The rows by id, each with the first version that arrived. */
  rows: Map<string, SentLog & { batch: SentBatch }>
  /** Returns the events of the rows, in order. */
  events(): string[]
  /** Returns the events of the rows with their numbers, in order. */
  numbered(): [string, number | undefined][]
  /** Returns how many times an event arrived although its row already existed. */
  repeats(): number
  feedback: { payload: string; attachments: readonly unknown[] }[]
  /** Bodies of all batches that arrived, in order. */
  batches: SentBatch[]
  requests: OutgoingRequest[]
  /** The faults of the next requests, in order; without one a request succeeds. */
  faults: Fault[]
  /** Returns the code with which an event is rejected; undefined if the event is accepted. */
  reject?: (log: SentLog) => string | undefined
  /** Returns another status than `accepted` for an event; undefined if the event is accepted. */
  leaveOut?: (log: SentLog) => string | undefined
}

/** A response without headers. */
export const answerOf = (status: number, body: object | string = ''): Answer => ({
  status,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  date: null,
  retryAfter: null,
})

export const offline: Transport = () => Promise.reject(new Error('offline'))

/**
 * Handles batches so that a client notices no difference from the gateway. `now` is the server's
 * clock.
 */
export function createFakeIntake(now: () => number): FakeIntake {
  const rows: FakeIntake['rows'] = new Map()
  let repeats = 0
  const answer = (status: number, body: object): Answer => ({
    ...answerOf(status, body),
    date: new Date(now()).toUTCString(),
  })
  const server: FakeIntake = {
    rows,
    events: () => Array.from(rows.values(), ({ event }) => event),
    numbered: () => Array.from(rows.values(), ({ event, sequence }) => [event, sequence]),
    repeats: () => repeats,
    feedback: [],
    batches: [],
    requests: [],
    faults: [],
    async transport(request) {
      server.requests.push(request)
      const fault = server.faults.shift()
      if (fault === 'unreachable') throw new Error('unreachable')
      const isBatch = request.path === '/log/batch'
      if (fault === 'halved') {
        if (isBatch && (JSON.parse(request.body as string) as SentBatch).logs.length > 1)
          return answer(413, { code: 'body_too_large' })
      } else if (fault !== undefined && fault !== 'lost') return { ...answer(500, {}), ...fault }
      const done = isBatch ? keepLogs(request) : keepFeedback(request)
      if (fault === 'lost') throw new Error('lost')
      return done
    },
  }

  function keepFeedback({ body }: OutgoingRequest): Answer {
    const form = body as FakeIntake['feedback'][number]
    const { device_uuid: device } = JSON.parse(form.payload) as { device_uuid?: string }
    if (!device) return answer(400, { code: 'invalid_request' })
    server.feedback.push(form)
    const { feedback } = JSON.parse(form.payload) as { feedback: { id: string } }
    return answer(201, { id: feedback.id, attachments: [] })
  }

  function keepLogs({ body }: OutgoingRequest): Answer {
    const batch = JSON.parse(body as string) as SentBatch
    if (!batch.device_uuid || !batch.unique_user_id) return answer(400, { code: 'invalid_request' })
    server.batches.push(batch)
    const results = batch.logs.map((log) => {
      const age = now() - timeOfUuid(log.id)
      const code =
        age > 30 * dayMs || age < -600_000 ? 'id_time_out_of_range' : server.reject?.(log)
      if (code !== undefined) return { status: 'rejected', code }
      const status = server.leaveOut?.(log)
      if (status !== undefined) return { status, id: log.id }
      if (rows.has(log.id)) repeats++
      else rows.set(log.id, { ...log, batch })
      return { status: 'accepted', id: log.id }
    })
    return answer(207, { results })
  }
  return server
}
