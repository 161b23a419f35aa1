import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { guardOptions, readGuardOptions } from '../guard/options.ts'
import { OptionError } from '../option-values.ts'
import { readOptions, runOptions } from '../options.ts'

const help = (script: string) => {
  const path = fileURLToPath(new URL(`../../scripts/${script}`, import.meta.url))
  return execFileSync(process.execPath, [path, '--help'], { encoding: 'utf8' })
}

for (const [script, options] of [
  ['bench.mjs', runOptions],
  ['bench-guard.mjs', guardOptions],
  ['start.mjs', { 'accept-empty-redis': {} }],
] as const) {
  t.test(`--help of ${script} lists the options that there are`, async (t) => {
    const listed = [...help(script).matchAll(/^ {2}--([a-z-]+)/gm)].map(([, name]) => name!)
    t.same(listed.toSorted(), Object.keys(options).toSorted())
  })
}

t.test('an unknown option is refused in one sentence', async (t) => {
  for (const read of [readOptions, readGuardOptions]) {
    const expected = new OptionError("Unknown option '--fast'; --help lists the options.")
    t.throws(() => read(['--fast']), expected)
    t.throws(() => read(['main']), /^Unexpected argument 'main'[^.]*; --help lists the options\.$/)
  }
  const expected = /^Option '--base <value>' argument missing; --help lists the options\.$/
  t.throws(() => readGuardOptions(['--base']), { name: 'OptionError', message: expected })
})
