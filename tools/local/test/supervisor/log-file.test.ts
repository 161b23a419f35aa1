import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openLogFile } from '../../src/supervisor/log-file.ts'

t.test('the tail of a log is the line that best explains a failure', async (t) => {
  for (const [lines, tail] of [
    [['starting', '{"level":50,"msg":"no port","err":{"message":"in use"}}', 'closing'], /no port/],
    [['Error: no memory', '    at main (a.js:1)', 'Node.js v20'], /^Error: no memory$/],
    [['starting', '{}', '0', 'null'], /^null$/],
    [[], /^$/],
  ] as const) {
    const path = join(t.testdir(), 'process.log')
    appendFileSync(path, 'Error: of an earlier start\n')
    const log = openLogFile(path)
    appendFileSync(path, lines.map((line) => `${line}\n`).join(''))
    t.match(log.tail(), tail)
    log.close()
  }
})
