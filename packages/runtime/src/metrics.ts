import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'

export { Counter, Gauge, Registry }

/** A registry with the metrics of the process itself (CPU, memory, event loop). */
export function createMetrics(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}
