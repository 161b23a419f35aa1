// Finds the test files and divides them. The name of a file determines its set: `npm run test:slow`
// runs `x.slow.test.ts`, `npm test` runs every other `x.test.ts`.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolders, root } from './bootstrap.mjs'

/** Contains the seconds that each test file takes; tools/scripts/test-reporter.mjs writes it. */
export const timingsFile = join(root, 'test-timings.json')

/** The assumed duration of a file that has not been timed. */
const unknownSeconds = 2

/** Returns all test files that .taprc includes, as sorted paths relative to the root. */
export function findTestFiles() {
  return [...packageFolders().map((folder) => `${folder}/test`), 'test']
    .flatMap(filesBelow)
    .filter((file) => file.endsWith('.test.ts'))
    .toSorted()
}

export const isSlow = (file) => file.endsWith('.slow.test.ts')

/** Both sets contain a file with random cases; the quick set runs only a few of them. */
export const isProperty = (file) => file.includes('/properties/')

/** Divides files into lists that take about the same time. Each list keeps the order of `files`. */
export function divide(files, count) {
  const secondsOf = readSeconds()
  const lists = Array.from({ length: count }, () => ({ seconds: 0, files: new Set() }))
  for (const file of longestFirst(files, secondsOf)) {
    const shortest = lists.reduce((one, other) => (other.seconds < one.seconds ? other : one))
    shortest.seconds += secondsOf(file)
    shortest.files.add(file)
  }
  return lists.map((list) => files.filter((file) => list.files.has(file)))
}

/**
 * Puts the longest files first, so that none alone keeps a run from ending. The others keep their
 * order: files of one package can use the same tables.
 */
export function dearestFirst(files) {
  const secondsOf = readSeconds()
  return longestFirst(files, (file) => (secondsOf(file) < 40 ? 0 : secondsOf(file)))
}

const longestFirst = (files, secondsOf) => files.toSorted((a, b) => secondsOf(b) - secondsOf(a))

function readSeconds() {
  const timings = readTimings()
  return (file) => timings[file] ?? unknownSeconds
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
