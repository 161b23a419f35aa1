import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { alertQueries, dashboardQueries, metricsIn, root } from './files.ts'

/** The names of Intake's SQL functions, and of databases, which look like names of metrics. */
const others = new Set([
  'intake_mobile',
  'intake_mobile_ROWS',
  'intake_dbt',
  ...Array.from(
    readFileSync(join(root, 'packages/schema/src/definitions/functions.ts'), 'utf8').matchAll(
      /FUNCTION (intake_\w+)/g,
    ),
    ([, name]) => name,
  ),
])

/**
 * Every metric that a dashboard, an alert rule or a document names, with one place that names it.
 */
export function namedMetrics(): Map<string, string> {
  const places = [...dashboardQueries(), ...alertQueries()].map(({ where, expr }) => ({
    where,
    names: metricsIn(expr),
  }))
  const documents = execFileSync('git', ['ls-files', '*.md', ':!CHANGELOG.md'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const where of documents.trim().split('\n')) {
    const text = readFileSync(join(root, where), 'utf8')
    const names = Array.from(text.matchAll(/`(intake_\w+)[`{]/g), ([, name]) => name!)
    places.push({ where, names: names.filter((name) => !others.has(name)) })
  }
  return new Map(places.flatMap(({ where, names }) => names.map((name) => [name, where])))
}
