import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { helpOf, problemCatalogue, type ProblemCode } from '@intake/health/problem-catalogue'
import {
  alertQueries,
  dashboardQueries,
  metricsIn,
  readAlertRules,
  readDashboards,
  readYaml,
  root,
} from './files.ts'
import { problemCases } from './problem-cases.ts'

const codes = Object.keys(problemCatalogue) as ProblemCode[]
const seenBy = (code: ProblemCode) => {
  const problem = problemCatalogue[code]
  return 'seenBy' in problem ? problem.seenBy : 'process'
}
const rules = readAlertRules()

/** The names and types of all members, and of the first element of each array. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  const members = Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)] as const)
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

// Grafana ignores an option that it does not know, so a misspelt one would have no effect. It is
// found because all dashboards, and all panels of a type, have the same options.
t.test('dashboards, and panels of a type, have the same members', async (t) => {
  const all = [...readDashboards().values()]
  const shapes = all.map((dashboard) => JSON.stringify(shapeOf({ ...dashboard, panels: [] })))
  t.equal(new Set(shapes).size, 1)
  const panels = all.flatMap((dashboard) => dashboard.panels)
  t.same(new Set(panels.map(({ type }) => type)), new Set(['stat', 'timeseries']))
  for (const panel of panels) {
    const first = panels.find(({ type }) => type === panel.type)
    t.same(shapeOf(panel), shapeOf(first), panel.title)
    t.equal(panel.datasource.uid, '${datasource}', panel.title)
    t.match(panel.fieldConfig.defaults.unit, /^(s|bytes|short|none|cps|reqps)$/, panel.title)
  }
})

t.test('no two dashboards have the same uid, and their panels have a place', async (t) => {
  const dashboards = readDashboards()
  t.equal(dashboards.size, 3)
  for (const [name, dashboard] of dashboards) {
    const ids = dashboard.panels.map(({ id }) => id)
    t.equal(new Set(ids).size, ids.length, `${name}: ids of panels`)
    for (const { title, gridPos } of dashboard.panels)
      t.ok(gridPos.x + gridPos.w <= 24, `${name}: ${title} is too far right`)
    for (const { title, targets } of dashboard.panels) {
      const refIds = targets.map(({ refId }) => refId)
      t.equal(new Set(refIds).size, refIds.length, `${name}: ${title}`)
    }
  }
  t.equal(new Set([...dashboards.values()].map(({ uid }) => uid)).size, dashboards.size)
})

t.test('each state has exactly one alert, unless only `intake doctor` sees it', async (t) => {
  for (const code of codes) {
    const ofCode = rules.filter(({ labels }) => labels.code === code)
    t.equal(ofCode.length, seenBy(code) === 'doctor' ? 0 : 1, code)
    const [rule] = ofCode
    if (rule === undefined) continue
    const { title } = problemCatalogue[code]
    t.equal(rule.annotations.summary, title[0]?.toUpperCase() + title.slice(1))
    t.equal(rule.annotations.runbook_url, helpOf(code))
    const isReported = rule.expr.includes(`(intake_problem{code="${code}"})`)
    t.equal(isReported, seenBy(code) === 'process', code)
  }
  const others = rules.filter(({ labels }) => labels.code && !(labels.code in problemCatalogue))
  t.same(others, [])
})

t.test('each state that a process reports has a case in test/states', (t) => {
  const cases = readFileSync(join(root, 'test/states/states.ts'), 'utf8')
  const reported = codes.filter((one) => seenBy(one) === 'process' || one === 'process_ends')
  const untested = reported.filter((code) => !cases.includes(`'${code}'`))
  // Only a defect of the worker causes worker_stuck.
  t.same(untested, ['worker_stuck'])
  t.end()
})

t.test('each alert has a page that exists, and fires once', async (t) => {
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, annotations, keep_firing_for } of rules) {
    t.ok(
      existsSync(join(root, annotations.runbook_url.split('#')[0]!)),
      `${alert}: ${annotations.runbook_url}`,
    )
    t.ok(annotations.summary && annotations.description && keep_firing_for, alert)
  }
})

t.test('each alert has a case in which it fires and one in which it is silent', async (t) => {
  const { tests } = readYaml('alerts.test.yml') as {
    tests: {
      alert_rule_test?: { alertname: string; exp_alerts?: object[] }[]
      promql_expr_test?: { expr: string; exp_samples?: object[] }[]
    }[]
  }
  const all: typeof tests = [...tests, ...problemCases()]
  const cases = all.flatMap(({ alert_rule_test = [], promql_expr_test = [] }) => [
    ...alert_rule_test.map(({ alertname, exp_alerts }) => ({ alertname, fires: !!exp_alerts })),
    ...promql_expr_test.map(({ expr, exp_samples }) => ({
      alertname: /alertname="(\w+)"/.exec(expr)?.[1],
      fires: exp_samples !== undefined,
    })),
  ])
  for (const { alert } of rules) {
    const own = cases.filter(({ alertname }) => alertname === alert)
    t.same(new Set(own.map(({ fires }) => fires)), new Set([true, false]), alert)
  }
})

t.test('each metric that a dashboard or an alert names is documented', async (t) => {
  const documented = readFileSync(join(root, 'docs/metrics.md'), 'utf8')
  const names = new Set(
    [...dashboardQueries(), ...alertQueries()].flatMap(({ expr }) => metricsIn(expr)),
  )
  t.ok(names.size > 30, `${names.size} names`)
  // Checks only Intake's own metrics; all others come from prom-client.
  for (const name of names) {
    if (name.startsWith('intake_')) t.ok(documented.includes(`\`${name}\``), name)
  }
})
