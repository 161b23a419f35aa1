import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const rotateBytes = 8 * 1024 * 1024
const tailBytesMax = 4096

export type LogFile = ReturnType<typeof openLogFile>

/**
 * Opens a file that a child process appends its output to. A file that has grown large is moved to
 * `<path>.old` first, so that two generations are kept. The caller closes it once the child has it.
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
    /** The last lines written since this call opened the file, joined with ` | `. */
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
    const lines = buffer.toString().split('\n')
    return lines
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .slice(-3)
      .join(' | ')
  } finally {
    closeSync(fd)
  }
}
