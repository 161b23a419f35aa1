import { readFileSync } from 'node:fs'
import t from 'tap'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const readme = read('README.md')
const report = read('bench/results/latest.md')

t.test('the README has at most 110 lines', async (t) => {
  t.ok(readme.split('\n').length <= 111, `${readme.split('\n').length - 1} lines`)
})

t.test('the figures of the README are those of the last report of the bench', async (t) => {
  const [, date, commit = ''] = /^(\d{4}-\d\d-\d\d), commit `([\da-f]+)`/m.exec(report) ?? []
  t.ok(readme.includes(`of \`${commit.slice(0, 9)}\`, ${date})`), `${commit}, ${date}`)
  const cells = new Set(readme.split('|').map((cell) => cell.trim()))
  for (const requirement of [
    'Gateway CPU per event ÷ durable',
    'Gateway + Redis CPU per event ÷ naive',
    'Worker CPU per event at saturation ÷ gateway of bare',
  ]) {
    const rows = report.split('\n').map((line) => line.split('|').map((one) => one.trim()))
    const measured = rows.find(([, , name]) => name === requirement)?.[3] ?? 'not in the report'
    t.ok(cells.has(measured), `${requirement}: ${measured}`)
  }
})
