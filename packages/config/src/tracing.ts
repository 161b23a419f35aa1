import { Type } from 'typebox'

/** Documents and checks variables that the OpenTelemetry SDK reads from the environment. */
export const TracingConfig = Type.Object({
  OTEL_TRACES_EXPORTER: Type.Union([Type.Literal('none'), Type.Literal('otlp')], {
    default: 'none',
    description: '`otlp`: send traces to an OpenTelemetry collector (docs/tracing.md).',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.String({
    hasCredentials: true,
    pattern: '^https?://',
    default: 'http://localhost:4318',
    description: 'The collector: OTLP over HTTP with protobuf, at `/v1/traces` of this URL.',
  }),
  OTEL_TRACES_SAMPLER: Type.Union(
    [
      Type.Literal('always_on'),
      Type.Literal('always_off'),
      Type.Literal('traceidratio'),
      Type.Literal('parentbased_always_on'),
      Type.Literal('parentbased_always_off'),
      Type.Literal('parentbased_traceidratio'),
    ],
    { default: 'parentbased_always_on', description: 'Which requests are traced.' },
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 1,
    description: 'The share of requests that the two samplers with a ratio trace.',
  }),
})
