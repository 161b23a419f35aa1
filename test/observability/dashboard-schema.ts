import { Type, type Static, type TProperties } from 'typebox'

/**
 * Creates the schema of an object that may have only these properties. This file has the part of
 * Grafana's dashboard model (schema version 39, Grafana 11 and later) that the dashboards use.
 * Other options are errors, because Grafana ignores unknown options: a misspelt one would have no
 * effect.
 */
const exact = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })

const units = ['s', 'bytes', 'short', 'none', 'cps', 'reqps'] as const
const unit = Type.Enum([...units])
export type Unit = (typeof units)[number]

const datasource = exact({
  type: Type.Literal('prometheus'),
  uid: Type.Literal('${datasource}'),
})
const target = exact({
  refId: Type.String({ pattern: '^[A-Z]$' }),
  expr: Type.String({ minLength: 1 }),
  legendFormat: Type.String({ minLength: 1 }),
  editorMode: Type.Literal('code'),
  range: Type.Literal(true),
})
const panel = {
  id: Type.Integer({ minimum: 1 }),
  title: Type.String({ minLength: 1 }),
  description: Type.String({ minLength: 1 }),
  datasource,
  gridPos: exact({
    h: Type.Integer({ minimum: 2 }),
    w: Type.Integer({ minimum: 2, maximum: 24 }),
    x: Type.Integer({ minimum: 0, maximum: 22 }),
    y: Type.Integer({ minimum: 0 }),
  }),
  targets: Type.Array(target, { minItems: 1 }),
}
const timeSeries = exact({
  ...panel,
  type: Type.Literal('timeseries'),
  fieldConfig: exact({
    defaults: exact({
      unit,
      min: Type.Literal(0),
      custom: exact({
        drawStyle: Type.Literal('line'),
        lineWidth: Type.Integer(),
        fillOpacity: Type.Integer(),
        showPoints: Type.Literal('never'),
        spanNulls: Type.Boolean(),
      }),
    }),
    overrides: Type.Array(Type.Never()),
  }),
  options: exact({
    legend: exact({
      displayMode: Type.Literal('list'),
      placement: Type.Literal('bottom'),
      showLegend: Type.Literal(true),
    }),
    tooltip: exact({ mode: Type.Literal('multi'), sort: Type.Literal('desc') }),
  }),
})
const threshold = exact({
  color: Type.Enum(['green', 'orange', 'red']),
  value: Type.Union([Type.Number(), Type.Null()]),
})
const stat = exact({
  ...panel,
  type: Type.Literal('stat'),
  fieldConfig: exact({
    defaults: exact({
      unit,
      noValue: Type.String(),
      color: exact({ mode: Type.Literal('thresholds') }),
      thresholds: exact({
        mode: Type.Literal('absolute'),
        steps: Type.Array(threshold, { minItems: 1 }),
      }),
    }),
    overrides: Type.Array(Type.Never()),
  }),
  options: exact({
    reduceOptions: exact({
      calcs: Type.Tuple([Type.Literal('lastNotNull')]),
      fields: Type.Literal(''),
      values: Type.Literal(false),
    }),
    colorMode: Type.Enum(['value', 'background']),
    graphMode: Type.Literal('none'),
    justifyMode: Type.Literal('auto'),
    orientation: Type.Literal('auto'),
    textMode: Type.Enum(['auto', 'name', 'value_and_name']),
  }),
})
export const Panel = Type.Union([timeSeries, stat])
export type Panel = Static<typeof Panel>

const link = exact({
  type: Type.Literal('dashboards'),
  title: Type.String(),
  tags: Type.Array(Type.String()),
  asDropdown: Type.Boolean(),
  keepTime: Type.Boolean(),
  includeVars: Type.Boolean(),
  targetBlank: Type.Boolean(),
  icon: Type.String(),
  tooltip: Type.String(),
  url: Type.String(),
})
const datasourceVariable = exact({
  type: Type.Literal('datasource'),
  name: Type.Literal('datasource'),
  label: Type.String(),
  query: Type.Literal('prometheus'),
  refresh: Type.Literal(1),
  hide: Type.Literal(0),
  current: exact({}),
})

export const Dashboard = exact({
  uid: Type.String({ pattern: '^intake-[a-z]+$' }),
  title: Type.String({ minLength: 1 }),
  description: Type.String({ minLength: 1 }),
  tags: Type.Array(Type.String()),
  schemaVersion: Type.Literal(39),
  version: Type.Integer(),
  editable: Type.Boolean(),
  graphTooltip: Type.Literal(1),
  refresh: Type.String(),
  timezone: Type.Literal('browser'),
  time: exact({ from: Type.String(), to: Type.Literal('now') }),
  links: Type.Array(link),
  annotations: exact({ list: Type.Array(Type.Never()) }),
  templating: exact({ list: Type.Tuple([datasourceVariable]) }),
  panels: Type.Array(Panel, { minItems: 1 }),
})
export type Dashboard = Static<typeof Dashboard>
