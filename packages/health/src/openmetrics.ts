export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/**
 * Converts Prometheus text to OpenMetrics text. There, `HELP` and `TYPE` name counters without
 * `_total`, and `# EOF` marks the end. prom-client's own conversion is not used, because it would
 * rename the counters for all later requests too.
 */
export function toOpenMetrics(prometheusText: string): string {
  const counters = new Set(
    [...prometheusText.matchAll(/^# TYPE (\S+)_total counter$/gm)].map(([, name]) => name),
  )
  const text = prometheusText
    .replaceAll(/^# (HELP|TYPE) (\S+)_total /gm, (line, what: string, name: string) =>
      counters.has(name) ? `# ${what} ${name} ` : line,
    )
    .replaceAll(/\n\n+/g, '\n')
  return `${text}# EOF\n`
}
