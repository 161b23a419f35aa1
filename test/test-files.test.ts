import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { divide, findTestFiles, isSlow } from '../tools/scripts/test-files.mjs'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

/** Lists all files below `folder` that look like tests, as paths relative to the root. */
function testsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isFile())
      return /\.test\.[cm]?[jt]sx?$/.test(entry.name) ? [relative(root, path)] : []
    const isOther = entry.name.startsWith('.') || /^(node_modules|dist)$/.test(entry.name)
    return entry.isDirectory() && !isOther ? testsBelow(path) : []
  })
}

t.test('every test file of the tree is in the quick or the slow set', async (t) => {
  const files = findTestFiles()
  t.same(files, testsBelow(root).toSorted())
  t.ok(files.some((file) => isSlow(file)))
  t.ok(files.some((file) => !isSlow(file)))
})

t.test('divided among processes, each file is in one of them', async (t) => {
  const files = findTestFiles()
  for (const count of [1, 3, 7]) {
    const lists = divide(files, count)
    t.equal(lists.length, count)
    t.same(lists.flat().toSorted(), files)
    t.notOk(lists.some((list) => list.length === 0))
  }
})

t.test('a process that a test starts runs without the hooks of tap', async (t) => {
  const print = 'process.env.NODE_OPTIONS'
  const options = execFileSync(process.execPath, ['-p', print], { encoding: 'utf8' })
  t.notMatch(options, /import|loader/)
})
