import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { version } from './version.ts'

export { Registry }

export type GaugeValues<Label extends string> = [
  labels: Partial<Record<Label, string>>,
  value: number,
][]

/** In milliseconds; delays include it. The default of 10 would cost 2.6 ms of CPU a second. */
const eventLoopMonitoringPrecision = 250

/** With the metrics of the process (CPU, memory, event loop) and of its build. */
export function createMetrics(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision })
  addGauge(registry, {
    name: 'intake_build_info',
    help: 'Always 1; the labels are the versions of Intake and of Node.',
    labels: ['version', 'node'],
    read: () => [[{ version, node: process.versions.node }, 1]],
  })
  return registry
}

export function metricsOf(registry: Registry) {
  const registers = [registry]
  return {
    /** @param series label values that exist at 0, or Prometheus would miss their first increase */
    counter<Label extends string>(
      name: string,
      help: string,
      labelNames: Label[],
      series: Partial<Record<NoInfer<Label>, string>>[] = [],
    ) {
      const counter = new Counter({ name, help, labelNames, registers })
      for (const labels of series) counter.inc(labels, 0)
      return counter
    },
    histogram: <Label extends string>(
      name: string,
      help: string,
      labelNames: Label[],
      buckets: number[],
    ) => new Histogram({ name, help, labelNames, buckets, registers }),
  }
}

/** Adds a counter that is read at each scrape; absent if there are no values. */
export function addCounter<Label extends string>(
  registry: Registry,
  counter: { name: string; help: string; labels: Label[]; read: () => GaugeValues<Label> },
): void {
  const { name, help, labels, read } = counter
  const metric = new Counter<Label>({
    name,
    help,
    labelNames: labels,
    registers: [],
    collect() {
      this.reset()
      for (const [values, value] of read()) this.inc(values, value)
    },
  })
  registry.registerMetric(metric)
}

/** Adds a gauge that is read at each scrape; absent if there are no values. */
export function addGauge<Label extends string = never>(
  registry: Registry,
  gauge: { name: string; help: string; labels?: Label[]; read: () => GaugeValues<Label> },
): void {
  const { name, help, labels = [], read } = gauge
  const metric = new Gauge<Label>({
    name,
    help,
    labelNames: labels,
    registers: [],
    collect() {
      this.reset()
      for (const [values, value] of read()) this.set(values, value)
    },
  })
  registry.registerMetric(metric)
}
