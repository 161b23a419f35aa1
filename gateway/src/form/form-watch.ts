import type { IncomingMessage } from 'node:http'
import { IntakeError } from '@intake/contract'
import { areChunksTooSmall, bodyTooLarge, chunksTooSmall } from '../body/read-body.ts'

export type FormWatch = ReturnType<typeof watchForm>

/** The parser must end so soon after the whole form has arrived: it has no more I/O to wait for. */
const turnsAfterEnd = 1_000

/**
 * Observes the bytes of a form while the parser reads them, to find what the parser misses
 * (docs/decisions/0007-multipart-parser.md).
 *
 * @param bytesMax the maximum size of the whole form
 */
export function watchForm(raw: IncomingMessage, bytesMax: number) {
  const delimiters = new DelimiterSearch(boundaryOf(raw.headers['content-type']))
  let chunks = 0
  let formBytes = 0
  let fail!: (error: Error) => void
  // Uses a promise, because an AbortController would add a tenth to the cost of a form.
  const failure = new Promise<never>((_resolve, reject) => (fail = reject))

  const count = (chunk: Buffer) => {
    formBytes += chunk.length
    if (formBytes > bytesMax) fail(bodyTooLarge(bytesMax))
    chunks++
    if (areChunksTooSmall(chunks, formBytes)) fail(chunksTooSmall())
    delimiters.add(chunk)
  }
  let turns = 0
  let turn: NodeJS.Immediate | undefined
  const awaitParser = () => {
    if (++turns > turnsAfterEnd) {
      fail(new IntakeError('invalid_multipart', 'The form cannot be parsed.'))
    } else {
      turn = setImmediate(awaitParser)
    }
  }
  raw.on('data', count).once('end', awaitParser).once('error', fail)

  return {
    /** The delimiters that have arrived, including those of parts that the parser skips. */
    parts: () => delimiters.parts,
    /** Why the parser skips parts or does not find the end; undefined if delimiters do not say. */
    reason(): string | undefined {
      if (delimiters.hasLoose) return looseDelimiter
      return delimiters.parts === 0
        ? 'No part begins with the boundary that the content type names.'
        : undefined
    },
    /**
     * Rejects when the form is too large, when its chunks are too small, when the connection fails,
     * and when the parser has not ended although the whole form has arrived; never after `close`.
     */
    failure,
    close(): void {
      clearImmediate(turn)
      raw.off('data', count).off('end', awaitParser).off('error', fail)
    },
  }
}

class DelimiterSearch {
  parts = 0
  /** Whether a line break does not follow a delimiter. */
  hasLoose = false
  #hasEnded = false
  readonly #delimiter: Buffer
  /** If a delimiter and the two bytes after it are split, a chunk has at most so many of them. */
  readonly #overlap: number
  /** The last bytes, which may begin a delimiter. The first one has no line break before it. */
  #tail: Buffer = Buffer.from('\r\n')

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
    this.#overlap = this.#delimiter.length + dashes.length - 1
  }

  add(chunk: Buffer): void {
    if (this.#hasEnded) return
    const seam = Buffer.concat([this.#tail, chunk.subarray(0, this.#overlap)])
    const from = this.#search(seam, 0)
    // Only `seam` is a copy: a few bytes from the end of the last chunk and the start of this one.
    // The chunks are not copied, because a picture is large.
    this.#tail =
      chunk.length <= this.#overlap
        ? seam.subarray(from)
        : chunk.subarray(this.#search(chunk, from - this.#tail.length))
  }

  /** Counts the delimiters from the position `from` on; returns where the next one may begin. */
  #search(bytes: Buffer, from: number): number {
    while (!this.#hasEnded) {
      const at = bytes.indexOf(this.#delimiter, from)
      if (at === -1) return Math.max(from, bytes.length - this.#delimiter.length + 1)
      const behind = at + this.#delimiter.length
      if (behind + dashes.length > bytes.length) return at
      const next = bytes.subarray(behind, behind + dashes.length)
      if (next.equals(dashes)) this.#hasEnded = true
      else {
        this.parts++
        if (!next.equals(lineBreak)) this.hasLoose = true
      }
      from = behind
    }
    return bytes.length
  }
}

const dashes = Buffer.from('--')
const lineBreak = Buffer.from('\r\n')
/** RFC 2046 allows blanks between a boundary and CR LF; the parser does not. */
const looseDelimiter = 'CR LF must follow each boundary at once: no blanks, and no LF alone.'

/** @throws {IntakeError} `invalid_multipart` when the boundary is missing or unusual */
function boundaryOf(contentType = ''): string {
  for (const [, name, quoted, plain] of contentType.matchAll(parameters)) {
    const boundary = quoted ?? plain ?? ''
    if (name?.toLowerCase() === 'boundary' && usualBoundary.test(boundary)) return boundary
  }
  throw new IntakeError('invalid_multipart', 'The content type has no valid boundary.')
}

const parameters = /;\s*([^\s=;"]+)=(?:"([^"]*)"|([^\s;"]*))/g
/** RFC 2046 allows fewer: at most 70 characters, and not all of these. */
const usualBoundary = /^[!-~ ]{0,199}[!-~]$/
