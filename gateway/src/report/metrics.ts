import { errorCatalogue, kinds, type ErrorCode, type RecordKind } from '@intake/contract'
import { createRate } from '@intake/health'
import { metricsOf, type Registry } from '@intake/runtime/process'
import type { StoredFrame } from '../commit/store-frame.ts'
import { type EndReason, endReasons, type Exchange, type PreflightResult } from '@intake/http-edge'
import { operationOf, operationPaths } from './operation.ts'

interface Refused {
  code: ErrorCode
  kind: RecordKind | ''
  records: number
}

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>

/** The codes of refusals that protect the service; the same request may succeed later. */
const shedCodes = (Object.keys(errorCatalogue) as ErrorCode[]).filter(
  (code) => errorCatalogue[code].isShed,
)

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const enqueueSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const frameRows = [1, 3, 10, 30, 100, 300, 1_000]
const frameBytes = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576]

export function createGatewayMetrics(registry: Registry) {
  const refusedRate = createRate()
  const edge = edgeMetrics(registry)
  const { accepted, acceptedRates } = frameMetrics(registry)
  const { countRequest, countEntry } = refusalMetrics(registry)
  return {
    ...edge,
    accepted,
    refused(refusal: Refused): void {
      countRequest(refusal)
      refusedRate.add(1)
    },
    entryRejected: countEntry,
    /** The rates over the last 15 seconds. */
    rates: () => ({
      acceptedPerSecond: {
        logs: acceptedRates.logs.perSecond(),
        feedback: acceptedRates.feedback.perSecond(),
      },
      refusedPerSecond: refusedRate.perSecond(),
    }),
  }
}

function edgeMetrics(registry: Registry) {
  const { counter, histogram } = metricsOf(registry)
  const requests = histogram(
    'intake_http_request_duration_seconds',
    'From the head of a request to the end of its response; status class `none`: the connection ended before a response began.',
    ['operation', 'status_class'],
    requestSeconds,
  )
  const connectionsEnded = counter(
    'intake_connections_ended_total',
    'Connections that the gateway closed before the client did, by reason.',
    ['reason'],
    endReasons.map((reason) => ({ reason })),
  )
  const preflights = counter(
    'intake_preflights_total',
    'Preflight requests of browsers, by result; `limited`: their address has sent too many.',
    ['result'],
    [{ result: 'answered' }, { result: 'limited' }],
  )
  /** Looking up a series by its labels takes longer than observing a value. */
  const series = new Map<string, { observe(seconds: number): void }>()

  return {
    requestEnded({ request: { method, url = '' }, response }: Exchange, ms: number): void {
      const statusClass = response.headersSent
        ? `${Math.floor(response.statusCode / 100)}xx`
        : 'none'
      const name = `${method} ${url} ${statusClass}`
      let one = series.get(name)
      if (one === undefined) {
        // A preflight request sends no records, even if other requests to its URL do.
        const operation = method === 'OPTIONS' ? 'other' : operationOf(url)
        one = requests.labels({ operation, status_class: statusClass })
        // Clients choose methods and URLs, so only those of the operations are kept.
        if (method === 'POST' && operationPaths.includes(url)) series.set(name, one)
      }
      one.observe(ms / 1_000)
    },
    connectionEnded: (reason: EndReason) => connectionsEnded.inc({ reason }),
    preflight: (result: PreflightResult) => preflights.inc({ result }),
  }
}

function frameMetrics(registry: Registry) {
  const { counter, histogram } = metricsOf(registry)
  const records = counter('intake_records_accepted_total', 'Records on stable storage.', ['kind'])
  const frames = counter(
    'intake_frames_enqueued_total',
    'Frames that contain the accepted records.',
    ['kind'],
  )
  const enqueued = histogram(
    'intake_enqueue_duration_seconds',
    'From the arrival of the oldest record of a frame until the frame is on stable storage.',
    ['kind'],
    enqueueSeconds,
  )
  const rows = histogram('intake_frame_rows', 'Rows of a frame.', ['kind'], frameRows)
  const bytes = histogram(
    'intake_frame_bytes',
    'Bytes of a frame, compressed.',
    ['kind'],
    frameBytes,
  )
  const acceptedRates = { logs: createRate(), feedback: createRate() }

  const count = (kind: RecordKind) => (frame: StoredFrame) => {
    records.inc({ kind }, frame.rows)
    frames.inc({ kind })
    enqueued.observe({ kind }, frame.ms / 1_000)
    rows.observe({ kind }, frame.rows)
    bytes.observe({ kind }, frame.bytes)
    acceptedRates[kind].add(frame.rows)
  }

  /** Counts a stored frame, by kind of record. */
  const accepted = { logs: count('logs'), feedback: count('feedback') }
  return { accepted, acceptedRates }
}

function refusalMetrics(registry: Registry) {
  const { counter } = metricsOf(registry)
  const refused = counter(
    'intake_requests_refused_total',
    'Refused requests, by code.',
    ['code'],
    Object.keys(errorCatalogue).map((code) => ({ code })),
  )
  const entriesRejected = counter(
    'intake_batch_entries_rejected_total',
    'Rejected entries of batches, by code.',
    ['code'],
  )
  const shed = counter(
    'intake_records_shed_total',
    'Records refused to protect the service, by code; clients send them again.',
    ['kind', 'code'],
    kinds.flatMap((kind) => shedCodes.map((code) => ({ kind, code }))),
  )

  function countShed(kind: RecordKind | '', code: ErrorCode, records: number): void {
    if (kind !== '' && errorCatalogue[code].isShed) shed.inc({ kind, code }, records)
  }

  return {
    countRequest({ code, kind, records }: Refused): void {
      refused.inc({ code })
      countShed(kind, code, records)
    },
    countEntry(code: ErrorCode): void {
      entriesRejected.inc({ code })
      countShed('logs', code, 1)
    },
  }
}
