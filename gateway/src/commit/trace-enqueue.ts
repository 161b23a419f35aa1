import type { RecordKind } from '@intake/contract'
import type { RequestSpan, Span, Tracing } from '@intake/tracing'
import type { Row } from '../record/row.ts'

/** Links the traced requests of a frame to its span; undefined if none is traced. */
export type StartEnqueue = (rows: readonly Row[]) => Span | undefined

export function createStartEnqueue(tracing: Tracing, kind: RecordKind): StartEnqueue {
  return (rows) => {
    const requests = new Set<RequestSpan>()
    for (const { span } of rows) if (span !== undefined) requests.add(span)
    const span = tracing.startEnqueue({ queue: kind, rows: rows.length, requests: [...requests] })
    if (span !== undefined) for (const request of requests) request.link(span)
    return span
  }
}
