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

/** Adds a counter by outcome, and returns the function that increases it. */
export function countOutcomes<Outcome extends string>(
  registry: Registry,
  { name, help, outcomes }: { name: string; help: string; outcomes: readonly Outcome[] },
): (outcome: Outcome) => void {
  const series = outcomes.map((outcome) => ({ outcome }))
  const counter = metricsOf(registry).counter(name, help, ['outcome'], series)
  return (outcome) => counter.inc({ outcome })
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

/** Reads a value for each kind; one that is undefined is absent. */
export const byKind =
  <Kind extends string>(kinds: readonly Kind[], read: (kind: Kind) => number | undefined) =>
  (): GaugeValues<'kind'> =>
    kinds.flatMap((kind): GaugeValues<'kind'> => {
      const value = read(kind)
      return value === undefined ? [] : [[{ kind }, value]]
    })

const addRead =
  (Metric: typeof Counter | typeof Gauge) =>
  <Label extends string = never>(
    registry: Registry,
    of: { name: string; help: string; labels?: Label[]; read: () => GaugeValues<Label> },
  ): void => {
    const { name, help, labels: labelNames = [], read } = of
    const metric = new Metric<Label>({
      name,
      help,
      labelNames,
      registers: [],
      collect() {
        this.reset()
        // Without labels, `reset` sets the value 0, which would be shown while there is none.
        if (labelNames.length === 0) this.remove()
        for (const [labels, value] of read()) this.inc(labels, value)
      },
    })
    registry.registerMetric(metric)
  }

/** Adds a counter that is read at each scrape; absent if there are no values. */
export const addCounter = addRead(Counter)
/** Adds a gauge that is read at each scrape; absent if there are no values. */
export const addGauge = addRead(Gauge)
