// The tap reporter of tools/scripts/test.mjs. Prints a line when a file has ended, the running files if
// nothing was printed for a while, and the slowest files at the end. Stops a process that prints
// nothing for ten minutes. With WRITE_TIMINGS it writes test-timings.json.
import { writeFileSync } from 'node:fs'
import { findTestFiles, readTimings, timingsFile } from './test-files.mjs'

const quietMs = 15_000
/** A process that prints nothing for longer than this counts as stalled. */
const stallMs = 600_000
const slowestCount = 5
const stderrKept = 8_192

/** The line that tools/scripts/test-together.mjs prints when one of its files has ended. */
const endOfFile = /^# file (\{.*\})$/

/** Prints the progress of a test that has one subtest for each process. */
export default function Progress({ test }) {
  const running = new Map()
  const done = []
  const began = performance.now()
  let saidAt = began

  const say = (sentence) => {
    saidAt = performance.now()
    process.stdout.write(`${clock(saidAt - began).padStart(6)}  ${sentence}\n`)
  }
  const sayEnd = ({ name, ms, pass, fail, ok = fail === 0 }) => {
    done.push({ name, ms, ok })
    say(`${ok ? 'ok  ' : 'FAIL'} ${seconds(ms)}  ${name}: ${pass} passed, ${fail} failed`)
  }
  const sinceMs = (file) => performance.now() - running.get(file).since
  const endStalled = () => {
    for (const [file, entry] of running) {
      if (entry.ended || performance.now() - entry.movedAt < stallMs) continue
      entry.ended = true
      say(`STALLED: ${file.name}, after: ${entry.line.trim()}`)
      file.setTimeout(1)
    }
  }
  const timer = setInterval(() => {
    endStalled()
    if (performance.now() - saidAt < quietMs) return
    const files = [...running.keys()].map(
      (file) => `${file.name} (${seconds(sinceMs(file)).trim()}, ${file.counts.pass} passed)`,
    )
    say(`running: ${files.join(', ')}`)
  }, 1_000)

  test.on('subtestStart', (file) => {
    const now = performance.now()
    const entry = {
      since: now,
      movedAt: now,
      ended: false,
      line: '',
      stderr: '',
      counted: undefined,
    }
    running.set(file, entry)
    file.parser.on('line', (line) => Object.assign(entry, { line, movedAt: performance.now() }))
    file.parser.on('comment', (comment) => {
      const [, json] = endOfFile.exec(comment.trimEnd()) ?? []
      if (json === undefined) return
      const { pass, fail } = file.counts
      const before = entry.counted ?? { pass: 0, fail: 0 }
      entry.counted = { pass, fail }
      const { file: name, ms } = JSON.parse(json)
      sayEnd({ name, ms, pass: pass - before.pass, fail: fail - before.fail })
    })
    // The output must always be read: a process whose pipe is full is blocked.
    file.once('process', ({ stderr }) =>
      stderr?.on('data', (chunk) => {
        entry.stderr = (entry.stderr + String(chunk)).slice(-stderrKept)
      }),
    )
  })
  test.on('subtestEnd', (file) => {
    const { stderr, counted } = running.get(file)
    const ms = sinceMs(file)
    running.delete(file)
    const ok = file.results?.ok ?? false
    const { pass, fail } = file.counts
    if (counted === undefined) sayEnd({ name: file.name, ms, pass, fail, ok })
    else if (!ok) say(`FAIL ${seconds(ms)}  the process ${file.name}`)
    if (!ok && stderr !== '') process.stdout.write(`${stderr.trimEnd()}\n`)
  })
  test.on('complete', () => {
    clearInterval(timer)
    const slowest = done.toSorted((a, b) => b.ms - a.ms).slice(0, slowestCount)
    say(`${done.length} files. The slowest:`)
    for (const { name, ms } of slowest) process.stdout.write(`        ${seconds(ms)}  ${name}\n`)
    if (process.env['WRITE_TIMINGS'] !== undefined) writeTimings(done)
  })
  return null
}

const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(6)} s`
const clock = (ms) => {
  const passed = Math.floor(ms / 1000)
  return `${Math.floor(passed / 60)}:${String(passed % 60).padStart(2, '0')}`
}

/** Updates the times of the files that ran and passed, and removes files that no longer exist. */
function writeTimings(done) {
  const timings = readTimings()
  for (const { name, ms, ok } of done) if (ok) timings[name] = Number((ms / 1000).toFixed(1))
  const known = findTestFiles().filter((file) => file in timings)
  const lines = known.map((file) => `  ${JSON.stringify(file)}: ${timings[file]}`)
  writeFileSync(timingsFile, `{\n${lines.join(',\n')}\n}\n`)
}
