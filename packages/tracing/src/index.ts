export { startTracing } from './start-tracing.ts'
export type { RequestSpan, Span, Tracing } from './tracing.ts'
