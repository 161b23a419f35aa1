import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type SpanContext,
  type Span as OtelSpan,
  type Tracer,
} from '@opentelemetry/api'
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import {
  ATTR_DB_COLLECTION_NAME,
  ATTR_DB_OPERATION_BATCH_SIZE,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVICE_NAME,
} from '@opentelemetry/semantic-conventions'
import { withTimeout } from '@intake/runtime'
import type { RequestSpan, Span, Tracing } from './tracing.ts'

/** The maximum number of links per span in the SDK. With more links it would drop the oldest. */
const linksMax = 128
/** Maximum number of exports in progress. If none of them ends, further spans are lost. */
const exportsMax = 4
const closeTimeoutMs = 2_000

/**
 * Configured by the standard environment variables of OpenTelemetry. Spans wait in a bounded queue
 * and are sent in the background, so a slow collector loses spans only. No text of a client becomes
 * part of a span.
 */
export function createTracing(options: {
  service: string
  onError: (error: unknown) => void
}): Tracing {
  const { service, onError } = options
  reportProblems(onError)
  const provider = createProvider(service)
  const start = createStart(provider.getTracer('intake'), onError)

  return {
    startRequest({ method, route, id }) {
      const span = start(`${method} ${route}`, {
        kind: SpanKind.SERVER,
        attributes: {
          [ATTR_HTTP_REQUEST_METHOD]: method,
          [ATTR_HTTP_ROUTE]: route,
          'intake.request_id': id,
        },
      })
      return span && toRequestSpan(span)
    },

    startEnqueue({ queue, rows, requests }) {
      const traceparents = requests.map(({ traceparent }) => traceparent)
      const [parent] = traceparents
      if (parent === undefined) return undefined
      const span = start(
        `enqueue ${queue}`,
        {
          kind: SpanKind.PRODUCER,
          parent,
          attributes: { 'intake.queue': queue, 'intake.rows': rows },
        },
        traceparents,
      )
      return span && toSpan(span)
    },

    startInsert({ table, rows, frames, traceparents }) {
      const [parent] = traceparents
      if (parent === undefined) return undefined
      const span = start(
        `INSERT ${table}`,
        {
          kind: SpanKind.CLIENT,
          parent,
          attributes: {
            [ATTR_DB_SYSTEM_NAME]: 'clickhouse',
            [ATTR_DB_OPERATION_NAME]: 'INSERT',
            [ATTR_DB_COLLECTION_NAME]: table,
            [ATTR_DB_OPERATION_BATCH_SIZE]: rows,
            'intake.frames': frames,
          },
        },
        traceparents,
      )
      return span && toSpan(span)
    },

    async close() {
      await withTimeout(provider.shutdown(), closeTimeoutMs, 'sending the last spans').catch(
        onError,
      )
    },
  }
}

/** Returns a function that starts a span; undefined if the span is not recorded. */
function createStart(tracer: Tracer, onError: (error: unknown) => void) {
  return (
    name: string,
    span: { kind: SpanKind; parent?: string | undefined; attributes: Attributes },
    links: readonly string[] = [],
  ): OtelSpan | undefined => {
    const { kind, parent, attributes } = span
    try {
      const started = tracer.startSpan(
        name,
        { kind, attributes, links: links.slice(0, linksMax).flatMap(toLink) },
        contextOf(parent),
      )
      return started.isRecording() ? started : undefined
    } catch (error) {
      // A sampler can throw, but records must be stored even then.
      onError(error)
      return undefined
    }
  }
}

function reportProblems(onError: (error: unknown) => void): void {
  const report = (message: string) => onError(new Error(message))
  const ignore = () => {}
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  setGlobalErrorHandler(onError)
}

const createProvider = (service: string) =>
  new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ [ATTR_SERVICE_NAME]: service }))
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ concurrencyLimit: exportsMax })),
    ],
  })

function toSpan(span: OtelSpan): Span {
  return {
    traceparent: toTraceparent(span.spanContext()),
    end(failure) {
      if (failure !== undefined) {
        span.setAttribute(ATTR_ERROR_TYPE, failure)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}

function toRequestSpan(span: OtelSpan): RequestSpan {
  const { traceparent, end } = toSpan(span)
  return {
    traceparent,
    end({ status, apiKeyId }) {
      if (apiKeyId !== undefined) span.setAttribute('intake.api_key_id', apiKeyId)
      if (status === undefined) return end('client_left')
      span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status)
      end(status >= 500 ? String(status) : undefined)
    },
    link(cause) {
      // It ends when its client disconnects, which may be before its frame is sent.
      if (span.isRecording()) for (const link of toLink(cause.traceparent)) span.addLink(link)
    },
  }
}

function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** The root context if the text is not a `traceparent`. */
function contextOf(traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent)
  if (parent === null) return ROOT_CONTEXT
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
}

function toLink(traceparent: string): { context: SpanContext }[] {
  const context = parseTraceParent(traceparent)
  return context === null ? [] : [{ context }]
}
