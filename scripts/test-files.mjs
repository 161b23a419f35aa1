// Which test files there are, and how they are divided. The name of a file says to which set it
// belongs: `x.slow.test.ts` is run by `npm run test:slow`, every other `x.test.ts` by `npm test`.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bootstrap.mjs'

/** File → seconds; scripts/test-reporter.mjs writes it. */
export const timingsFile = join(root, 'test-timings.json')

/** The assumed duration of a file that has not been timed. */
const unknownSeconds = 2

/** All test files, as .taprc includes them; sorted paths from the root. */
export function findTestFiles() {
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/test`)
  return ['gateway/test', 'worker/test', 'bench/test', 'test', ...packages]
    .flatMap(filesBelow)
    .filter((file) => file.endsWith('.test.ts'))
    .toSorted()
}

export const isSlow = (file) => file.endsWith('.slow.test.ts')

/** Tests with random cases: few in the quick set, all in the slow set. */
export const isProperty = (file) => file.includes('/properties/')

/** Divides files into lists that take about the same time; each is in the order of `files`. */
export function divide(files, count) {
  const timings = readTimings()
  const secondsOf = (file) => timings[file] ?? unknownSeconds
  const lists = Array.from({ length: count }, () => ({ seconds: 0, files: new Set() }))
  for (const file of files.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const shortest = lists.reduce((one, other) => (other.seconds < one.seconds ? other : one))
    shortest.seconds += secondsOf(file)
    shortest.files.add(file)
  }
  return lists.map((list) => files.filter((file) => list.files.has(file)))
}

export function readTimings() {
  return existsSync(timingsFile) ? JSON.parse(readFileSync(timingsFile, 'utf8')) : {}
}

/** @returns {string[]} */
function filesBelow(folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return [path]
    return ['node_modules', 'dist'].includes(entry.name) ? [] : filesBelow(path)
  })
}
