import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const folder = join(root, 'deploy/observability')

export interface AlertRule {
  alert: string
  expr: string
  for?: string
  keep_firing_for: string
  labels: { severity: 'critical' | 'warning'; code?: string }
  annotations: { summary: string; description: string; runbook_url: string }
}

export function readAlertRules(): AlertRule[] {
  const { groups } = readYaml('alerts.yml') as { groups: { rules: AlertRule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

/** What tests read of a Grafana dashboard (schema version 39, Grafana 11 and later). */
export interface Dashboard {
  uid: string
  panels: {
    type: string
    id: number
    title: string
    datasource: { uid: string }
    gridPos: { x: number; w: number }
    fieldConfig: { defaults: { unit: string } }
    targets: { refId: string; expr: string }[]
  }[]
}

/** A query of a dashboard or an alert rule, and where it is. */
export interface Query {
  where: string
  expr: string
}

/** The dashboards by the names of their files; not validated. */
export function readDashboards(): Map<string, Dashboard> {
  const files = readdirSync(join(folder, 'dashboards'))
  return new Map(
    files.map((file) => [
      basename(file, '.json'),
      JSON.parse(readFileSync(join(folder, 'dashboards', file), 'utf8')) as Dashboard,
    ]),
  )
}

export function dashboardQueries(): Query[] {
  return [...readDashboards()].flatMap(([name, { panels }]) =>
    panels.flatMap(({ title, targets }) =>
      targets.map(({ refId, expr }) => ({ where: `${name}: ${title} ${refId}`, expr })),
    ),
  )
}

export function alertQueries(): Query[] {
  return readAlertRules().map(({ alert, expr }) => ({ where: alert, expr }))
}

/** A query as Grafana sends it for a scrape interval of 5 seconds. */
export function withRateInterval(expr: string): string {
  return expr.replaceAll('$__rate_interval', '20s')
}

/** The metrics that a query names, without the suffixes that a histogram adds. */
export function metricsIn(expr: string): string[] {
  const names = expr.replaceAll(/"[^"]*"/g, '').match(/\b(?:intake|nodejs|process)_\w+/g) ?? []
  return names.map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
}

export function readYaml(name: string): unknown {
  return parse(readFileSync(join(folder, name), 'utf8'))
}
