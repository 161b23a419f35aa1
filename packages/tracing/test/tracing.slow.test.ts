import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { startOtlpCollector, type OtlpCollector } from '@intake/test-kit/otlp-collector'
import { until } from '@intake/test-kit/until'
import type { Logger } from '@intake/runtime/process'
import { startTracing, type Tracing } from '@intake/tracing'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const request = { method: 'POST', route: '/api/log', id: 'r' }
const response = { status: 201, apiKeyId: 'key' }

const logOf = (onError: (error: unknown) => void): Pick<Logger, 'warn'> => ({
  warn: ({ err }: { err: unknown }) => onError(err),
})

/** Starts tracing with the standard environment variables, as the services do. */
async function start(t: Test, env: Record<string, string>) {
  // Keeps the texts of errors only: the stack of an error refers to the spans that were to be sent,
  // so the spans would stay in memory.
  const errors: string[] = []
  for (const [name, value] of Object.entries({ OTEL_BSP_SCHEDULE_DELAY: '1', ...env })) {
    process.env[name] = value
    t.teardown(() => delete process.env[name])
  }
  const tracing = (await startTracing({
    service: 'test',
    config: {
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '',
    },
    log: logOf((error) => void errors.push(String(error))),
  })) as Tracing
  return { tracing, errors }
}

t.test('a trace leads from a request through its frame to its insert', async (t) => {
  const collector = await startOtlpCollector(t)
  const { tracing } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const [one, other] = [tracing.startRequest(request)!, tracing.startRequest(request)!]
  const frame = tracing.startEnqueue({ queue: 'logs', rows: 2, requests: [one, other] })!
  one.link(frame)
  other.link(frame)
  frame.end()
  one.end(response)
  other.end({ status: undefined, apiKeyId: undefined })
  const third = tracing.startRequest(request)!
  const lone = tracing.startEnqueue({ queue: 'logs', rows: 1, requests: [third] })!
  lone.end('queue_full')
  third.end({ status: 503, apiKeyId: 'key' })
  const insert = tracing.startInsert({
    table: 'logs',
    rows: 3,
    frames: 2,
    traceparents: [frame.traceparent, lone.traceparent],
  })!
  insert.end('insert_retry')
  await tracing.close()
  await untilReceived(collector, 6)

  const { spans } = collector
  const [first, second, failed] = spans.filter(({ name }) => name === 'POST /api/log')
  const [shared, alone] = spans.filter(({ name }) => name === 'enqueue logs')
  const stored = spans.find(({ name }) => name === 'INSERT logs')
  t.equal(spans.length, 6)
  t.match(shared, { traceId: first!.traceId, parentSpanId: first!.spanId, isError: false })
  t.same(shared!.links, [idsOf(first!), idsOf(second!)])
  t.same(first!.links, [idsOf(shared!)])
  t.same(second!.links, [idsOf(shared!)])
  t.match(alone, { isError: true, attributes: { 'error.type': 'queue_full' } })
  t.match(stored, { traceId: first!.traceId, parentSpanId: shared!.spanId, isError: true })
  t.same(stored!.links, [idsOf(shared!), idsOf(alone!)])
  t.match(first!.attributes, { 'http.response.status_code': 201, 'intake.api_key_id': 'key' })
  t.match(second!.attributes, { 'error.type': 'client_left' })
  t.match(failed, { isError: true, attributes: { 'http.response.status_code': 503 } })
})

/**
 * Waits until `count` spans have been received. `close` gives up after two seconds, but on a busy
 * machine the last spans may arrive later.
 */
const untilReceived = ({ spans }: OtlpCollector, count: number) =>
  until('all spans are received', () => spans.length >= count)

const idsOf = ({ traceId, spanId }: { traceId: string; spanId: string }) => ({ traceId, spanId })

t.test('what follows requests that are not sampled is not traced either', async (t) => {
  const { tracing } = await start(t, { OTEL_TRACES_SAMPLER: 'always_off' })
  t.equal(tracing.startRequest(request), undefined)
  t.equal(tracing.startEnqueue({ queue: 'logs', rows: 1, requests: [] }), undefined)
  const insert = { table: 'logs', rows: 1, frames: 1, traceparents: [] }
  t.equal(tracing.startInsert(insert), undefined)
  await tracing.close()
})

t.test('a frame of many requests has a bounded number of links', async (t) => {
  const collector = await startOtlpCollector(t)
  const { tracing } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const requests = Array.from({ length: 500 }, () => tracing.startRequest(request)!)
  tracing.startEnqueue({ queue: 'logs', rows: 500, requests })?.end()
  await tracing.close()
  await untilReceived(collector, 1)
  t.equal(collector.spans[0]?.links.length, 128)
})

const spansAtOnce = 2_000
const spansMin = 100_000
/**
 * The highest growth of memory that is accepted, in MiB. The spans that wait in the SDK's queue and
 * those that are being sent take less than 10 MiB.
 */
const growthMiBMax = 30

for (const mode of ['hang', 'trickle'] as const) {
  t.test(
    `if the collector would ${mode}, nothing waits for it, and memory is bounded`,
    async (t) => {
      const collector = await startOtlpCollector(t, { mode })
      const { tracing, errors } = await start(t, {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_EXPORT_TIMEOUT: '100',
      })
      const heapMiB = () => {
        collectGarbage()
        return process.memoryUsage().heapUsed / 1024 / 1024
      }
      const before = heapMiB()
      let spans = 0
      await until('nothing more is sent to the collector', () => {
        for (let n = 0; n < spansAtOnce; n++) tracing.startRequest(request)!.end(response)
        spans += spansAtOnce
        return spans >= spansMin && errors.some((error) => /export limit/.test(error))
      })
      const growth = heapMiB() - before
      t.ok(growth < growthMiBMax, `${Math.round(growth)} MiB after ${spans} spans`)
      await tracing.close()
    },
  )
}

t.test('a collector that is not there is reported', async (t) => {
  const { tracing, errors } = await start(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
  })
  // On a busy machine, a request may also time out before its connection is refused.
  await until('it is reported', () => {
    tracing.startRequest(request)!.end(response)
    return errors.some((error) => error.includes('ECONNREFUSED'))
  })
  await tracing.close()
})

t.test('nothing is started when traces are off', async (t) => {
  const config = { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: '' } as const
  t.equal(await startTracing({ service: 'test', config, log: logOf(() => t.fail()) }), undefined)
})

t.test('the collector may be known from the file of a secret only', async (t) => {
  const collector = await startOtlpCollector(t)
  t.teardown(() => delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'])
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = ''
  const config = {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  } as const
  const tracing = (await startTracing({ service: 'test', config, log: logOf(() => {}) }))!
  tracing.startRequest(request)!.end(response)
  await tracing.close()
  await untilReceived(collector, 1)
  t.equal(collector.spans.length, 1)
})
