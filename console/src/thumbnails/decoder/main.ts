// This process decodes pictures that strangers sent. It has no settings, no secrets and no
// connections: it reads a picture from standard input, and writes the result to standard output. Where
// the system supports it, it cannot open files or connections either.
// The console ends it by closing its input, or kills it.
import { constants, getPriority, setPriority } from 'node:os'
import { pictureBytesMax } from '../examined.ts'
import { readMessages, writeMessage } from '../message-stream.ts'
import type { Request } from './make-thumbnail.ts'

/** Then the process ends itself, in case the console is gone. A running one kills it earlier. */
const pictureMs = 30_000

// Lowers the priority, because inserts matter more than thumbnails. A priority that is already
// lower is kept, because raising it is not allowed.
const { PRIORITY_BELOW_NORMAL: priority } = constants.priority
if (getPriority() < priority) setPriority(priority)
// An error of the output means that the console is gone, so there is nobody to report it to.
process.stdout.on('error', () => process.kill(process.pid, 'SIGKILL'))

const decoder = await import('./make-thumbnail.ts').catch((error: Error) => {
  writeMessage(process.stdout, { head: { missing: error.message }, body: Buffer.alloc(0) })
})
if (decoder !== undefined) {
  // Why the process is not confined; empty if it is (packages/confinement/src/run-confined.mjs).
  const obstacle = process.argv.at(-1)
  writeMessage(process.stdout, { head: { obstacle }, body: Buffer.alloc(0) })
  for await (const { head, body } of readMessages(process.stdin, pictureBytesMax)) {
    // The process kills itself, because `process.exit` would wait for the decoder.
    const timer = setTimeout(() => process.kill(process.pid, 'SIGKILL'), pictureMs)
    const { thumbnail, ...facts } = await decoder.makeThumbnail(body, head as Request)
    clearTimeout(timer)
    writeMessage(process.stdout, { head: facts, body: thumbnail ?? Buffer.alloc(0) })
  }
}
