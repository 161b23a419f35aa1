import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startOtlpCollector, type CollectedSpan } from '@intake/test-kit/otlp-collector'
import { postLog } from '@intake/test-kit/post'
import { startStack, type RunningStack } from '@intake/test-kit/running-stack'
import { until } from '@intake/test-kit/until'

const sendEvent = ({ endpoints }: RunningStack, headers: Record<string, string> = {}) =>
  postLog({ url: endpoints.gateway, apiKey: endpoints.apiKey }, { event: 'traced' }, { headers })

t.test('a trace leads from the request through the frame to the insert', async (t) => {
  const collector = await startOtlpCollector(t)
  const env = {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  }
  const stack = await startStack(t, { dataDir: createDataDir(t), env })
  const { spans } = collector

  const ofClient = '4bf92f3577b34da6a3ce929d0e0e4736'
  const response = await sendEvent(stack, { traceparent: `00-${ofClient}-00f067aa0ba902b7-01` })
  t.equal(response.status, 201)
  const names = ['POST /api/log', 'enqueue logs', 'INSERT logs']
  // Gateway and worker export independently, so the span of the insert may arrive first.
  const [request, frame, insert] = await until('request, frame and insert are there', () => {
    const found = names.map((name) => spans.find((span) => span.name === name))
    return found.every((span) => span !== undefined) && found
  })
  t.match(request, { service: 'intake-gateway', parentSpanId: '' })
  const { traceId } = request!
  t.not(traceId, ofClient, 'a client does not decide in which trace its request is')
  t.match(frame, { service: 'intake-gateway', parentSpanId: request!.spanId })
  t.match(insert, { service: 'intake-worker', parentSpanId: frame!.spanId })
  t.match(insert!.attributes, { 'db.system.name': 'clickhouse', 'db.operation.batch.size': 1 })
  // The SDK rounds the start down to milliseconds and adds the exact duration, so an end can be up
  // to 1 ms early.
  const cut = 1_000_000n
  t.ok(request!.startedAt <= frame!.startedAt && frame!.endedAt <= request!.endedAt + cut)
  // Compares the starts, because the worker may finish before Redis replies to the gateway.
  t.ok(frame!.startedAt <= insert!.startedAt)

  // A slow gateway may put all requests into one frame, whose span keeps at most 128 links. So the
  // test sends fewer than 128 requests.
  const requests = 100
  const sent = await Promise.all(Array.from({ length: requests }, () => sendEvent(stack)))
  t.ok(sent.every(({ status }) => status === 201))
  const isOther = (name: string) => (span: CollectedSpan) =>
    span.name === name && span.traceId !== traceId
  const idsOf = (span: CollectedSpan) => ({ traceId: span.traceId, spanId: span.spanId })
  const causesOf = (name: string) => spans.filter(isOther(name)).flatMap(({ links }) => links)
  await until('every request leads to an insert', () => {
    const frames = spans.filter(isOther('enqueue logs'))
    const inserted = new Set(causesOf('INSERT logs').map((link) => link.spanId))
    return (
      causesOf('enqueue logs').length === requests &&
      frames.every((one) => inserted.has(one.spanId))
    )
  })
  const frames = spans.filter(isOther('enqueue logs'))
  t.ok(frames.length < requests, `${frames.length} frames`)
  for (const one of spans.filter(isOther('POST /api/log'))) {
    const [link] = one.links
    const its = frames.find((other) => other.spanId === link?.spanId)
    if (its === undefined || !its.links.some((cause) => cause.spanId === one.spanId)) {
      t.match(its?.links, [idsOf(one)])
    }
  }
})
