import type { ErrorCode, RecordKind } from '@intake/contract'
import type { EndReason } from './edge/connections.ts'
import { Counter, type Registry } from '@intake/runtime'

export interface GatewayMetrics {
  accepted(kind: RecordKind, rows: number): void
  refused(code: ErrorCode): void
  entryRejected(code: ErrorCode): void
  connectionEnded(reason: EndReason): void
}

export function createGatewayMetrics(registry: Registry): GatewayMetrics {
  const accepted = new Counter({
    name: 'intake_records_accepted_total',
    help: 'Records on stable storage.',
    labelNames: ['kind'],
    registers: [registry],
  })
  const frames = new Counter({
    name: 'intake_frames_enqueued_total',
    help: 'Frames that contain the accepted records.',
    labelNames: ['kind'],
    registers: [registry],
  })
  const refused = new Counter({
    name: 'intake_requests_refused_total',
    help: 'Refused requests, by code.',
    labelNames: ['code'],
    registers: [registry],
  })
  const entriesRejected = new Counter({
    name: 'intake_batch_entries_rejected_total',
    help: 'Rejected entries of batches, by code.',
    labelNames: ['code'],
    registers: [registry],
  })
  const connectionsEnded = new Counter({
    name: 'intake_connections_ended_total',
    help: 'Connections that the gateway closed before the client did, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  return {
    accepted(kind, rows) {
      accepted.inc({ kind }, rows)
      frames.inc({ kind })
    },
    refused: (code) => refused.inc({ code }),
    entryRejected: (code) => entriesRejected.inc({ code }),
    connectionEnded: (reason) => connectionsEnded.inc({ reason }),
  }
}
