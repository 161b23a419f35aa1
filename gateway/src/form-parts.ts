import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { IntakeError, limits } from '@intake/contract'
import type { ByteLease } from './byte-budget.ts'
import { readUpload, type Upload } from './upload.ts'

export interface FormParts {
  /** How many the parser has handed over. */
  count: number
  payload?: Buffer
  /** The file parts, whatever their names, in their order. */
  uploads: Upload[]
  /** The text parts with other names, in their order. */
  texts: { name: string; text: Buffer }[]
}

/**
 * Reads every part of a form to its end.
 *
 * @throws {IntakeError} `invalid_multipart`, `invalid_request`, `body_too_large`, `busy`; and what the
 * parser throws
 */
export async function readParts(
  request: FastifyRequest,
  attachmentBytesMax: number,
): Promise<FormParts> {
  const { bodyLease: lease } = request
  const parts: FormParts = { count: 0, uploads: [], texts: [] }
  const readText = createTextReader(lease)
  for await (const part of request.parts()) {
    parts.count++
    // With `isPartAFile` every part is one.
    if (part.type !== 'file') continue
    const { file, filename } = part
    const name = nameOf(part)
    if (name === 'payload') {
      if (filename !== undefined) throw invalidPart('/payload', 'must be a text part, not a file')
      if (parts.payload !== undefined) throw invalidPart('/payload', 'must be sent once')
      parts.payload = await readText(file, '/payload')
    } else if (isFile(part)) {
      const index = parts.uploads.length
      const upload = await readUpload(file, { index, bytesMax: attachmentBytesMax, lease })
      // Browsers send a file field in which nothing was chosen as an empty file without a name.
      if (upload.bytes > 0 || filename) parts.uploads.push(upload)
    } else {
      const text = await readText(file, '')
      if (!isAttachment(name)) parts.texts.push({ name, text })
      else if (text.length > 0) throw invalidPart('/attachments', 'must be file parts')
    }
  }
  return parts
}

export function invalidPart(pointer: string, detail: string): IntakeError {
  return new IntakeError('invalid_request', 'The form does not match the documentation.', {
    errors: [{ pointer, detail }],
  })
}

function nameOf(part: MultipartFile): string {
  // The types promise a name, but a client may have left it out.
  const name = part.fieldname as string | undefined
  if (name === undefined && !isFile(part)) {
    throw new IntakeError('invalid_multipart', 'Every text part needs a name.')
  }
  if (name === undefined || name.length <= limits.identifierLength) return name ?? ''
  const detail = `The name of a part must not exceed ${limits.identifierLength} characters.`
  throw new IntakeError('invalid_multipart', detail)
}

/** Some clients name the type of an image and no file. */
function isFile({ filename, mimetype }: MultipartFile): boolean {
  return filename !== undefined || /^(image\/|application\/octet-stream$)/i.test(mimetype)
}

/** `attachments`; many form libraries write a repeated part as `attachments[]` or `attachments[0]`. */
const isAttachment = (name: string) => /^attachments(\[\d*\])?$/.test(name)

/** Reads text parts, which together may have as many bytes as a payload. */
function createTextReader(lease: ByteLease) {
  let bytes = 0
  return async (stream: AsyncIterable<Buffer>, pointer: string): Promise<Buffer> => {
    const chunks: Buffer[] = []
    for await (const chunk of stream) {
      bytes += chunk.length
      if (bytes > limits.payloadBytes) continue
      lease.extend(chunk.length)
      chunks.push(chunk)
    }
    if (bytes <= limits.payloadBytes) return Buffer.concat(chunks)
    const detail = `must not exceed ${limits.payloadBytes} bytes`
    throw new IntakeError('body_too_large', 'The text parts are too large.', {
      errors: [{ pointer, detail }],
    })
  }
}
