import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { needsClone } from '@intake/test-kit/needs-clone'
import t from 'tap'
import {
  findChangelogProblems,
  findManifestProblems,
  findReportProblems,
  isPermitted,
  manifestPaths,
  setChartVersion,
  setPomVersion,
  startSection,
} from '../tools/scripts/release-rules.mjs'

const gitFiles = (paths: readonly string[]) =>
  execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8' })
    .trim()
    .split('\n')

const unreleased = '# Changelog\n\n## Unreleased\n\nAdded\n\n- One thing.\n'

t.test('every manifest has the version of the root and is private', needsClone, async (t) => {
  const root = { file: 'package.json', version: '1.2.3', private: true }
  t.same(findManifestProblems([root, { ...root, file: 'a' }]), [])
  t.same(
    findManifestProblems([
      root,
      { file: 'a', version: '1.2.2', private: true },
      { ...root, file: 'b', private: false },
    ]),
    ['a has 1.2.2', 'b is not private'],
  )
  const files = gitFiles(manifestPaths)
  t.ok(files.length > 20)
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as typeof root
  t.same(findManifestProblems(files.map((file) => ({ ...read(file), file }))), [])
})

t.test('the chart gets the version, and runs the images of it', async (t) => {
  t.equal(
    setChartVersion('apiVersion: v2\nversion: 0.1.0\nappVersion: 0.1.0\nkubeVersion: 1\n', '1.2.3'),
    'apiVersion: v2\nversion: 1.2.3\nappVersion: 1.2.3\nkubeVersion: 1\n',
  )
})

t.test('the Kotlin client gets the version, and its dependencies keep theirs', async (t) => {
  const dependency = '<dependency><version>2.0</version></dependency>'
  t.equal(
    setPomVersion(`<version>0.1.0</version>${dependency}`, '1.2.3'),
    `<version>1.2.3</version>${dependency}`,
  )
})

t.test('a version gets what was unreleased, and the changelog then passes', async (t) => {
  t.same(findChangelogProblems(unreleased, '1.2.3'), [
    'no section "## 1.2.3, <date>" with text',
    '"Unreleased" is not empty',
  ])
  const released = startSection(unreleased, '1.2.3', '2026-11-24')
  t.equal(
    released,
    '# Changelog\n\n## Unreleased\n\n## 1.2.3, 2026-11-24\n\nAdded\n\n- One thing.\n',
  )
  t.same(findChangelogProblems(released, '1.2.3'), [])
  t.throws(() => startSection(released, '1.2.4', '2026-11-25'), /is empty/)
})

t.test('only known licences are permitted', async (t) => {
  const permitted = [
    ['a', 'MIT'],
    ['b', '(MIT OR GPL-3.0)'],
    ['@img/sharp-libvips-linux-x64', 'LGPL-3.0-or-later'],
    ['sharp-libvips-linux-x64', 'LGPL-3.0-or-later'],
  ] as const
  for (const one of permitted) t.ok(isPermitted(...one), one.join())
  const others = [
    ['c', 'MIT AND GPL-3.0'],
    ['d', 'Unknown'],
    ['e', 'LGPL-3.0-or-later'],
  ] as const
  for (const one of others) t.notOk(isPermitted(...one), one.join())
})

t.test(
  'the report of the bench is not older than the last change of the hot path',
  needsClone,
  async (t) => {
    const report = '# Measured\n\n2026-11-22, commit `c1f3478f9a87`. AMD EPYC, 2 cores.\n'
    const changedSince = (commit: string, paths: readonly string[]) => {
      t.equal(commit, 'c1f3478f9a87')
      const found = gitFiles(paths).join('\n')
      for (const folder of ['gateway/src', 'worker/src', 'packages/queue/src/shards', 'deploy'])
        t.match(found, `${folder}/`, 'git finds files of the hot path')
      return ['gateway/src/limit.ts']
    }
    t.match(findReportProblems(report, changedSince), [
      /of c1f3478f9; the hot path changed since \(gateway\/src\/limit\.ts\)/,
    ])
    const seen = findReportProblems(report, () => [])
    t.same(seen, [])
    const ofDirtyTree = ', commit `c1f3478f9a87+`'
    const given = findReportProblems(ofDirtyTree, () => [])
    t.match(given, [/is of no commit/])
  },
)
