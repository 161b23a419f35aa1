import type { FastifyMultipartBaseOptions } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { IntakeError, limits, type FeedbackPayload, type Validator } from '@intake/contract'
import type { ByteHold } from './byte-budget.ts'
import { checkJson, parseJson } from './json.ts'
import { readUpload, type Upload } from './upload.ts'

export interface FeedbackForm {
  payload: FeedbackPayload
  /** The file parts named `attachments`, in their order. */
  uploads: Upload[]
}

/** The most that a form can hold, with room for the multipart framing. */
export function formBytesMax(attachmentBytesMax: number): number {
  return limits.payloadBytes + limits.attachments * attachmentBytesMax + 64 * 1024
}

/** Every part, the text part too, arrives as a stream of bytes: nothing is truncated or decoded unseen. */
export function multipartOptions(attachmentBytesMax: number): FastifyMultipartBaseOptions {
  return {
    isPartAFile: () => true,
    throwFileSizeLimit: false,
    limits: { parts: 32, files: 32, fileSize: formBytesMax(attachmentBytesMax), headerPairs: 32 },
  }
}

/**
 * Reads a form to its end, its parts in any order. Files are held in memory; a file that is too
 * large, or one too many, is noted in its `Upload` and read past.
 *
 * @throws {IntakeError} when the form is malformed or the payload is missing or wrong
 */
export async function readFeedbackForm(
  request: FastifyRequest,
  options: { validate: Validator<FeedbackPayload>; attachmentBytesMax: number },
): Promise<FeedbackForm> {
  const { validate, attachmentBytesMax } = options
  let payloadBytes: Buffer | undefined
  const uploads: Upload[] = []
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue
      const isText = part.filename === undefined
      if (part.fieldname === 'payload') {
        if (!isText) throw invalidPart('/payload', 'must be a text part, not a file')
        if (payloadBytes !== undefined) throw invalidPart('/payload', 'must be sent once')
        payloadBytes = await readPayload(part.file, request.bodyHold)
      } else if (isAttachment(part.fieldname) && !isText) {
        const upload = {
          index: uploads.length,
          bytesMax: attachmentBytesMax,
          hold: request.bodyHold,
        }
        uploads.push(await readUpload(part.file, upload))
      } else {
        const bytes = await skip(part.file)
        if (isAttachment(part.fieldname) && bytes > 0) {
          throw invalidPart('/attachments', 'must be file parts')
        }
      }
    }
  } catch (cause) {
    if (cause instanceof IntakeError) throw cause
    // What came before the first part too many has been read, and its uploads say which are too many.
    if (!partsLimits.has((cause as { code?: string }).code ?? '')) {
      throw new IntakeError('invalid_multipart', 'The form cannot be parsed.', { cause })
    }
  } finally {
    // The rest of a refused form is read past, so that the client gets to see the answer.
    request.raw.unpipe()
    request.raw.resume()
  }
  if (payloadBytes === undefined) throw invalidPart('/payload', 'is required')
  const charge = (bytes: number) => request.bodyHold.grow(bytes)
  const payload = parseJson(payloadBytes, { nodesMax: limits.jsonNodes, charge })
  checkJson(payload, { pointer: '/payload' })
  return { payload: validate(payload, '/payload'), uploads }
}

/** The errors of the parser for more parts than are read. */
const partsLimits = new Set(['FST_PARTS_LIMIT', 'FST_FILES_LIMIT'])

/** `attachments`; many form libraries write a repeated part as `attachments[]` or `attachments[0]`. */
const isAttachment = (name: string) => /^attachments(\[\d*\])?$/.test(name)

async function readPayload(stream: AsyncIterable<Buffer>, hold: ByteHold): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > limits.payloadBytes) continue
    hold.arrive(chunk.length)
    chunks.push(chunk)
  }
  if (bytes > limits.payloadBytes) {
    throw new IntakeError('body_too_large', 'The payload part is too large.', {
      errors: [{ pointer: '/payload', detail: `must not exceed ${limits.payloadBytes} bytes` }],
    })
  }
  return Buffer.concat(chunks)
}

async function skip(stream: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0
  for await (const chunk of stream) bytes += chunk.length
  return bytes
}

function invalidPart(pointer: string, detail: string): IntakeError {
  return new IntakeError('invalid_request', 'The form does not match the documentation.', {
    errors: [{ pointer, detail }],
  })
}
