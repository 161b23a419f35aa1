// This process decodes one picture that a stranger sent. It has no settings, no secrets and no
// connections: it reads the picture from standard input, and writes the result to standard output.
// Where the system supports it, it cannot open files or connections either.
import { constants, getPriority, setPriority } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { splitLine } from '../split-line.ts'
import type { Request } from './make-thumbnail.ts'

// Lowers the priority, because inserts matter more than thumbnails. A priority that is already
// lower is kept, because raising it is not allowed.
const { PRIORITY_BELOW_NORMAL: priority } = constants.priority
if (getPriority() < priority) setPriority(priority)

const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const decoder = await import('./make-thumbnail.ts').catch((error: Error) => {
  print({ missing: error.message })
})
if (decoder !== undefined) {
  // Why the process is not confined; empty if it is (packages/confinement/src/run-confined.mjs).
  print({ obstacle: process.argv.at(-1) })
  const { line, rest } = splitLine(await buffer(process.stdin))
  const { thumbnail, ...facts } = await decoder.makeThumbnail(rest, line as Request)
  print(facts)
  if (thumbnail !== undefined) process.stdout.write(thumbnail)
}
