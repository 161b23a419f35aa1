import { ClickHouseError } from '@intake/clickhouse'
import type { Frame, QueueName } from '@intake/queue'
import type { Tracing } from '@intake/tracing'

/** Makes one attempt of an insert, in a span if one of its frames is traced. */
export async function traceInsert(
  options: {
    tracing: Tracing
    kind: QueueName
    rows: number
    /** The parts of the insert. If a frame was split, several parts can come from it. */
    parts: readonly { origin: Frame }[]
  },
  insert: () => Promise<void>,
): Promise<void> {
  const { tracing, kind, rows, parts } = options
  const frames = new Set(parts.map(({ origin }) => origin))
  const span = tracing.startInsert({
    table: kind,
    rows,
    frames: frames.size,
    traceparents: [...frames].flatMap(({ traceparent }) => traceparent ?? []),
  })
  try {
    await insert()
    span?.end()
  } catch (error) {
    span?.end(error instanceof ClickHouseError ? `insert_${error.kind}` : 'insert_retry')
    throw error
  }
}
