import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const rotateBytes = 8 * 1024 * 1024
const tailBytesMax = 4096

/**
 * Opens a file to which a child process appends its output. If the file already has more than 8
 * MiB, it is first renamed to `<path>.old`, which replaces an earlier file of that name. The caller
 * must call `close` after starting the child.
 */
export function openLogFile(path: string) {
  mkdirSync(dirname(path), { recursive: true })
  rotate(path)
  const fd = openSync(path, 'a', 0o600)
  const startBytes = fstatSync(fd).size
  return {
    path,
    fd,
    close: () => closeSync(fd),
    /**
     * Returns the line that best explains a failure. Ignores lines that were in the file when it
     * was opened. Returns an empty text if there is no other line.
     */
    tail: () => readTail(path, startBytes),
  }
}

function rotate(path: string) {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > rotateBytes) renameSync(path, `${path}.old`)
}

function readTail(path: string, startBytes: number) {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const from = Math.max(startBytes, size - tailBytesMax)
    const buffer = Buffer.alloc(Math.max(0, size - from))
    readSync(fd, buffer, 0, buffer.length, from)
    return lastWords(buffer.toString())
  } finally {
    closeSync(fd)
  }
}

/**
 * Returns the line of a log that probably says why the program ended. This is the last line that
 * mentions an error, because a crashing program prints further lines after its error. If no line
 * mentions an error, it is the last line.
 */
function lastWords(text: string) {
  const lines = text.split('\n').map(plain)
  const telling = lines.filter((line) => line !== '' && !line.startsWith('at '))
  return telling.findLast((line) => /error|exception|fatal/i.test(line)) ?? telling.at(-1) ?? ''
}

/**
 * Returns the message of a line that is JSON. Returns any other line without the spaces around it.
 */
function plain(line: string) {
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message: string } }
    if (typeof msg !== 'string') return line.trim()
    return err === undefined ? msg : `${msg} (error: ${err.message})`
  } catch {
    return line.trim()
  }
}
