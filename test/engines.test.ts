import { readFileSync } from 'node:fs'
import t from 'tap'

const lockfile = readFileSync(new URL('../pnpm-lock.yaml', import.meta.url), 'utf8')
const lowestMajor = 20

/** Whether a range of `engines.node`, such as `^18 || >=20`, has versions of Node 20. */
const allows = (range: string) =>
  range.split('||').some((part) => {
    const [, operator, major] = /^\s*(>=?|\^|~)?\s*v?(\d+)/.exec(part) ?? []
    if (major === undefined) return true
    return operator?.startsWith('>') ? Number(major) <= lowestMajor : Number(major) === lowestMajor
  })

t.test('no dependency makes the installation warn on Node 20', async (t) => {
  const packages = [...lockfile.matchAll(/^ {2}(\S+):\n(?: {4}.*\n)*? {4}engines: \{(.*)\}/gm)]
  const ranges = packages.map(([, name = '', engines = '']) => {
    const [, quoted, bare] = /node: (?:'([^']*)'|([^,]*))/.exec(engines) ?? []
    return { name: name.replaceAll("'", ''), range: quoted ?? bare ?? '*' }
  })
  t.ok(ranges.length > 100, 'the lockfile was read')
  const found = ranges.filter(({ range }) => !allows(range))
  t.same(found, [])
})
