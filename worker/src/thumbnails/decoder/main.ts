// The process that decodes pictures, which may be malicious. It has no settings, no secrets and no
// connections: it reads pictures from standard input and writes the results to standard output. The
// worker ends it by closing its input, or kills it.
import { constants, setPriority } from 'node:os'
import { pictureBytesMax } from '../examined.ts'
import { readMessages, writeMessage } from '../message-stream.ts'
import type { Request } from './make-thumbnail.ts'

/**
 * The process ends itself when one picture takes this long, in case the worker is gone. A running
 * worker kills it earlier.
 */
const pictureMs = 30_000

// Has a low priority, because inserts matter more than thumbnails.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
// Writing fails only when the worker is gone, so there is no work left.
process.stdout.on('error', () => process.kill(process.pid, 'SIGKILL'))

const decoder = await import('./make-thumbnail.ts').catch((error: Error) => {
  writeMessage(process.stdout, { head: { missing: error.message }, body: Buffer.alloc(0) })
})
if (decoder !== undefined) {
  writeMessage(process.stdout, { head: {}, body: Buffer.alloc(0) })
  for await (const { head, body } of readMessages(process.stdin, pictureBytesMax)) {
    // Kills itself, because `process.exit` would wait for the decoder.
    const timer = setTimeout(() => process.kill(process.pid, 'SIGKILL'), pictureMs)
    const { thumbnail, ...facts } = await decoder.makeThumbnail(body, head as Request)
    clearTimeout(timer)
    writeMessage(process.stdout, { head: facts, body: thumbnail ?? Buffer.alloc(0) })
  }
}
