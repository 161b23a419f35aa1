import { readFileSync } from 'node:fs'
import t from 'tap'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const readme = read('README.md')
const report = read('tools/bench/results/latest.md')
const guard = read('tools/bench/results/guard.md')

t.test('the README has at most 110 lines', async (t) => {
  t.ok(readme.split('\n').length <= 111, `${readme.split('\n').length - 1} lines`)
})

/** The microseconds of CPU of all processes in a row of the guard's table, for this tree. */
function allProcesses(what: string): number {
  const row = guard.split('\n').find((line) => line.includes(` µs per ${what} |`))
  const [intake, clickhouse] = row!.split('|')[3]!.split('+').map(Number)
  return intake! + clickhouse!
}

t.test('the figures of the README are those of the saved runs of the bench', async (t) => {
  const cells = readme.split('\n').map((line) => line.replaceAll(/ +/g, ' '))
  const used = [allProcesses('event in batches of 100'), allProcesses('log')]
  const perCore = used.map((us) => (Math.round(1e4 / us) * 100).toLocaleString('en'))
  const aBillion = used.map((us) => ((2 * 1e9 * us) / 86_400 / 1e6).toFixed(1))
  for (const figures of [perCore, aBillion]) {
    t.ok(
      cells.some((line) => line.endsWith(`| ${figures.join(' | ')} |`)),
      figures.join(', '),
    )
  }
  const [, ofNaive = ''] = /Gateway \+ Redis CPU per event ÷ naive \| ([\d.]+ ×)/.exec(report) ?? []
  t.ok(ofNaive !== '' && readme.includes(`take ${ofNaive} the CPU`), ofNaive)
  const [, ofBare = ''] = /Gateway CPU per event ÷ bare \| ([\d.]+ ×)/.exec(report) ?? []
  t.ok(ofBare !== '' && readme.includes(`the gateway ${ofBare} that of a bare`), ofBare)
  const [, p99 = ''] = /Ack p99 at half capacity, open loop \| ([\d.]+)/.exec(report) ?? []
  t.ok(p99 !== '' && readme.includes(`within ${p99} ms`), p99)
})
