import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { buffersOf, integerOf, messagesOf, readMessage, type Message } from './protobuf.ts'
import { serve } from './serve.ts'

export interface CollectedSpan {
  service: string
  name: string
  traceId: string
  spanId: string
  /** Empty if the span is the first of its trace. */
  parentSpanId: string
  links: { traceId: string; spanId: string }[]
  attributes: Record<string, string | number | undefined>
  isError: boolean
  /** When the span began, in nanoseconds since 1970. */
  startedAt: bigint
  endedAt: bigint
}

export interface OtlpCollector {
  /** The URL for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string
  spans: CollectedSpan[]
}

/**
 * Starts an HTTP server that receives OTLP until the test ends.
 *
 * @param options.mode with `hang`, the server never responds. With `trickle`, it sends one byte of
 * its response every tenth of a second, without an end
 */
export async function startOtlpCollector(
  t: Test,
  { mode = 'receive' }: { mode?: 'receive' | 'hang' | 'trickle' } = {},
): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    if (mode === 'hang') return
    if (mode === 'trickle') {
      response.flushHeaders()
      const timer = setInterval(() => response.write(' '), 100)
      response.on('close', () => clearInterval(timer))
      return
    }
    const isGzip = request.headers['content-encoding'] === 'gzip'
    spans.push(...readSpans(isGzip ? gunzipSync(body) : body))
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  }
  const { url } = await serve(t, (request, response) => void receive(request, response))
  return { url, spans }
}

/** Reads spans by the field numbers of `opentelemetry/proto/trace/v1/trace.proto`. */
function readSpans(body: Buffer): CollectedSpan[] {
  return messagesOf(readMessage(body), 1).flatMap((resourceSpans) => {
    const [resource] = messagesOf(resourceSpans, 1)
    const service = String(resource && readAttributes(resource, 1)['service.name'])
    const scopes = messagesOf(resourceSpans, 2)
    return scopes.flatMap((scope) => messagesOf(scope, 2).map((span) => readSpan(service, span)))
  })
}

function readSpan(service: string, span: Message): CollectedSpan {
  const [status] = messagesOf(span, 15)
  return {
    service,
    name: String(buffersOf(span, 5)[0]),
    ...readIds(span),
    parentSpanId: buffersOf(span, 4)[0]?.toString('hex') ?? '',
    links: messagesOf(span, 13).map(readIds),
    attributes: readAttributes(span, 9),
    isError: status !== undefined && integerOf(status, 3) === 2n,
    startedAt: integerOf(span, 7)!,
    endedAt: integerOf(span, 8)!,
  }
}

function readIds(message: Message): { traceId: string; spanId: string } {
  const [traceId, spanId] = [1, 2].map((field) => buffersOf(message, field)[0]!.toString('hex'))
  return { traceId: traceId!, spanId: spanId! }
}

function readAttributes(message: Message, field: number): CollectedSpan['attributes'] {
  const entries = messagesOf(message, field).map((attribute) => {
    const [value] = messagesOf(attribute, 2)
    const integer = value && integerOf(value, 3)
    const text = value && buffersOf(value, 1)[0]?.toString()
    return [String(buffersOf(attribute, 1)[0]), integer === undefined ? text : Number(integer)]
  })
  return Object.fromEntries(entries) as CollectedSpan['attributes']
}
