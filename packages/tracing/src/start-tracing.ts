import type { Static } from 'typebox'
import type { TracingConfig } from '@intake/config'
import type { Tracing } from './tracing.ts'

/**
 * Resolves to undefined if tracing is off; OpenTelemetry is then not loaded.
 *
 * @param options.onError called for every problem; spans that were not sent are lost
 */
export async function startTracing(options: {
  service: string
  config: Pick<Static<typeof TracingConfig>, 'OTEL_TRACES_EXPORTER' | 'OTEL_EXPORTER_OTLP_ENDPOINT'>
  onError: (error: unknown) => void
}): Promise<Tracing | undefined> {
  const { service, config, onError } = options
  if (config.OTEL_TRACES_EXPORTER === 'none') return undefined
  // The SDK reads only the environment, but the setting may come from a file (`…_ENDPOINT_FILE`).
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] ||= config.OTEL_EXPORTER_OTLP_ENDPOINT
  const { createTracing } = await import('./opentelemetry.ts')
  return createTracing({ service, onError })
}
