import { isUtf8 } from 'node:buffer'
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { IntakeError, limits } from '@intake/contract'
import { requireLease, type ByteLease } from '../request.ts'
import { imageTypeOf } from './image-type.ts'
import { readUpload, type AttachmentRules, type Received } from './upload.ts'

export interface FormParts {
  count: number
  payload?: Buffer
  /** The file parts, in their order. They may have any name. */
  uploads: Received[]
  /** The text parts other than the payload, in their order. */
  texts: { name: string; text: Buffer }[]
  omitted: Omitted
}

export interface Omitted {
  parts: number
  bytes: number
}

/** Calls `onDamage` with the errors of the parser, which have no common code, and rejects with them. */
async function* partsOf(request: FastifyRequest, onDamage: (error: unknown) => void) {
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') {
        part.file.once('error', onDamage)
        if (part.file.errored !== null) onDamage(part.file.errored)
      }
      yield part
    }
  } catch (error) {
    onDamage(error)
    throw error
  }
}

/**
 * @param onDamage called with an error of the parser before the call rejects with it: the form is
 * malformed, or not complete; any other error is no fault of the form, and the client must keep it
 * @throws {IntakeError} `invalid_multipart`, `invalid_request`, `body_too_large`, `busy`
 */
export async function readParts(
  request: FastifyRequest,
  rules: AttachmentRules,
  onDamage: (error: unknown) => void,
): Promise<FormParts> {
  const lease = requireLease(request)
  const parts: FormParts = { count: 0, uploads: [], texts: [], omitted: { parts: 0, bytes: 0 } }
  const readPayload = createTextReader(lease)
  const readText = createTextReader(lease)
  for await (const part of partsOf(request, onDamage)) {
    parts.count++
    // With `isPartAFile` the parser emits every part as a file. Only the compiler needs this check.
    if (part.type !== 'file') continue
    const { file, filename } = part
    const name = nameOf(part)
    if (name === 'payload') {
      if (filename !== undefined) throw invalidPart('/payload', 'must be a text part, not a file')
      if (parts.payload !== undefined) throw invalidPart('/payload', 'must be sent once')
      const { text } = await readPayload(file)
      if (text === undefined) throw payloadTooLarge()
      parts.payload = text
    } else if (isFile(part)) {
      const index = parts.uploads.length
      const upload = await readUpload(file, { index, rules, lease })
      // For a file field in which nothing was chosen, browsers send an empty file without a name.
      if (upload.bytes > 0 || filename) parts.uploads.push(upload)
    } else {
      const hasPlace = parts.texts.length < limits.formTexts
      const { text, bytes } = await readText(file, hasPlace ? Buffer.byteLength(name) : Infinity)
      if (text !== undefined && !isUtf8(text) && imageTypeOf(text) !== undefined) {
        // An image without a file name or type is accepted: the part's header may be damaged, or
        // the client sent neither.
        const index = parts.uploads.length
        parts.uploads.push(await readUpload([text], { index, rules, lease }))
      } else if (isAttachment(name)) {
        if (bytes > 0) throw invalidPart('/attachments', 'must be file parts')
      } else if (text === undefined) omit(parts.omitted, bytes)
      else parts.texts.push({ name, text })
    }
  }
  return parts
}

export function omit(omitted: Omitted, bytes: number): void {
  omitted.parts++
  omitted.bytes += bytes
}

export function invalidPart(pointer: string, detail: string): IntakeError {
  return new IntakeError('invalid_request', 'The form does not match the documentation.', {
    errors: [{ pointer, detail }],
  })
}

function nameOf(part: MultipartFile): string {
  // The parser's types promise that a part has a name, but a client can omit it.
  const name = part.fieldname as string | undefined
  if (name === undefined && !isFile(part)) {
    throw new IntakeError('invalid_multipart', 'Every text part needs a name.')
  }
  if (name === undefined || name.length <= nameLengthMax) return name ?? ''
  const detail = `The name of a part must not exceed ${nameLengthMax} characters.`
  throw new IntakeError('invalid_multipart', detail)
}

/** It is below the 80 KiB after which the parser truncates a header. */
const nameLengthMax = 16 * 1024

/** Whether a part is a file. Some clients send the media type of an image without a file name. */
function isFile({ filename, mimetype }: MultipartFile): boolean {
  return filename !== undefined || /^(image\/|application\/octet-stream$)/i.test(mimetype)
}

/** Many form libraries write the name of a repeated part with brackets. */
const isAttachment = (name: string) => /^attachments(\[\d*\])?$/.test(name)

interface Text {
  /** The content of the part; undefined if it was too large and was discarded. */
  text?: Buffer
  bytes: number
}

/** The parts that the function keeps have together at most the maximum size of a payload. */
function createTextReader(lease: ByteLease) {
  let kept = 0
  let leased = 0

  /** @param nameBytes size of the part's name, which is charged too; Infinity discards the part */
  return async (stream: AsyncIterable<Buffer>, nameBytes = 0): Promise<Text> => {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of stream) {
      bytes += chunk.length
      const wanted = kept + nameBytes + bytes
      if (wanted > limits.payloadBytes) {
        chunks.length = 0
        continue
      }
      // Bytes leased for a part that turned out too large are reused for the next part.
      if (wanted > leased) lease.extend(wanted - leased)
      leased = Math.max(leased, wanted)
      chunks.push(chunk)
    }
    if (kept + nameBytes + bytes > limits.payloadBytes) return { bytes }
    kept += nameBytes + bytes
    return { text: Buffer.concat(chunks), bytes }
  }
}

function payloadTooLarge(): IntakeError {
  const detail = `must not exceed ${limits.payloadBytes} bytes`
  return new IntakeError('body_too_large', 'The payload is too large.', {
    errors: [{ pointer: '/payload', detail }],
  })
}
