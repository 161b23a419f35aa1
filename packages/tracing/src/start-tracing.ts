import type { Static } from 'typebox'
import type { TracingConfig } from '@intake/config'
import { createWarning, type Logger } from '@intake/runtime/process'
import type { Tracing } from './tracing.ts'

/** Resolves to undefined if tracing is off; OpenTelemetry is then not loaded. */
export async function startTracing(options: {
  service: string
  config: Pick<Static<typeof TracingConfig>, 'OTEL_TRACES_EXPORTER' | 'OTEL_EXPORTER_OTLP_ENDPOINT'>
  log: Pick<Logger, 'warn'>
}): Promise<Tracing | undefined> {
  const { service, config, log } = options
  if (config.OTEL_TRACES_EXPORTER === 'none') return undefined
  // The SDK reads only the environment, but the setting may come from a file (`…_ENDPOINT_FILE`).
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] ||= config.OTEL_EXPORTER_OTLP_ENDPOINT
  const { createTracing } = await import('./opentelemetry.ts')
  const help = 'docs/operations/problems.md#traces_lost'
  return createTracing({ service, onError: createWarning(log, help, 'traces could not be sent') })
}
