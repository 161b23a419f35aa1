import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'

const rotateBytes = 8 * 1024 * 1024
const tailBytesMax = 4096

/** Renames a file of more than 8 MiB to `<path>.old`. Call `close` when the child has started. */
export function openLogFile(path: string) {
  mkdirSync(dirname(path), { recursive: true })
  rotate(path)
  const fd = openSync(path, 'a', 0o600)
  const startBytes = fstatSync(fd).size
  return {
    path,
    fd,
    close: () => closeSync(fd),
    /** Returns the line since the file was opened that best explains a failure; empty: none. */
    tail: () => readTail(path, startBytes),
  }
}

function rotate(path: string) {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > rotateBytes) renameSync(path, `${path}.old`)
}

function readTail(path: string, startBytes: number) {
  const log = readFileSync(path)
  return lastWords(log.subarray(Math.max(startBytes, log.length - tailBytesMax)).toString())
}

/** A crashing program prints more after its error, so this is the last line with an error. */
function lastWords(text: string) {
  const lines = text.split('\n').map((line) => line.trim())
  const telling = lines.filter((line) => line !== '' && !line.startsWith('at '))
  return telling.findLast((line) => /error|exception|fatal/i.test(line)) ?? telling.at(-1) ?? ''
}
