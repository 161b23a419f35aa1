import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { imageTypes, IntakeError, limits, type ErrorCode } from '@intake/contract'
import { examinePicture, PictureError, type Picture } from '@intake/pictures'
import { sha256InTurns } from '@intake/runtime'
import type { ByteLease } from '../request.ts'
import { Chunks } from '../body/chunks.ts'
import { imageTypeOf } from './image-type.ts'

/** A larger file is joined in one turn of the event loop and examined in another. */
const bytesPerTurn = 1024 * 1024

export interface AttachmentRules {
  bytesMax: number
  formBytesMax: number
  pixelsMax: number
  /** Whether images are stored as they were sent, with their metadata. */
  keepsMetadata: boolean
}

export interface Image {
  /** The bytes to store: the image without its metadata, unless metadata is kept. */
  body: Buffer
  /** The media type by the bytes, never by the file name or the declared type. */
  contentType: string
  extension: string
  sha256: string
  /**
   * The hash of the image as it was sent. It identifies the image in a retry, even if another
   * version of the gateway removes other metadata.
   */
  sentSha256: string
}

/** The result for one file part: an image, or the error that says why the part is not stored. */
export type Upload = { bytes: number } & ({ image: Image } | { refusal: IntakeError })

/**
 * Reads one file part to its end.
 *
 * @param options.index position among the attachments, from 0
 * @throws {IntakeError} `busy` when there is no capacity for the bytes
 */
export async function readUpload(
  stream: AsyncIterable<Buffer> | Iterable<Buffer>,
  options: { index: number; rules: AttachmentRules; lease: ByteLease },
): Promise<Upload> {
  const { index, rules, lease } = options
  const { bytesMax } = rules
  const overCount = index >= limits.attachments
  const hash = createHash('sha256')
  const chunks = new Chunks({
    bytesMax: overCount ? 0 : bytesMax,
    onKeep(chunk) {
      lease.extend(chunk.length)
      hash.update(chunk)
    },
  })
  // Reads a part to its end even if it cannot be stored, so that the parser continues.
  for await (const chunk of stream) chunks.add(chunk)
  const { bytes } = chunks
  const refuse = (code: AttachmentCode, detail: string): Upload => ({
    bytes,
    refusal: refusalOf(code, index, detail),
  })
  if (overCount) {
    return refuse('too_many_attachments', `at most ${limits.attachments} are allowed`)
  }
  if (bytes > bytesMax) {
    return refuse('attachment_too_large', `must not exceed ${bytesMax} bytes`)
  }
  const sent = chunks.concat()
  const contentType = imageTypeOf(sent)
  const extension = imageTypes.get(contentType ?? '')
  if (contentType === undefined || extension === undefined) {
    const formats = [...new Set(imageTypes.values())].join(', ')
    return refuse('attachment_not_an_image', `must be an image: ${formats}`)
  }
  // Joining the chunks of a large image takes up to 5 ms, examining it up to 20 ms and removing its
  // metadata up to 5 ms, so they run in different turns of the event loop.
  if (bytes > bytesPerTurn) await nextTurn()
  const picture = examine(sent, contentType)
  if (picture instanceof PictureError) {
    return refuse('attachment_unreadable', `cannot be read as ${extension}: ${picture.message}`)
  }
  if (picture.width * picture.height > rules.pixelsMax) {
    return refuse('attachment_too_many_pixels', `must not have more than ${rules.pixelsMax} pixels`)
  }
  const sentSha256 = hash.digest('hex')
  const isKept = rules.keepsMetadata || picture.isClean
  if (!isKept && bytes > bytesPerTurn) await nextTurn()
  const body = isKept ? sent : picture.removeMetadata()
  const sha256 = isKept ? sentSha256 : await sha256InTurns(body)
  return { bytes, image: { body, contentType, extension, sha256, sentSha256 } }
}

function examine(bytes: Buffer, contentType: string): Picture | PictureError {
  try {
    return examinePicture(bytes, contentType)
  } catch (error) {
    if (error instanceof PictureError) return error
    throw error
  }
}

type AttachmentCode = Extract<ErrorCode, `${string}attachment${string}`>

function refusalOf(code: AttachmentCode, index: number, detail: string): IntakeError {
  const errors = [{ pointer: `/attachments/${index}`, detail }]
  return new IntakeError(code, 'An attachment cannot be accepted.', { errors })
}
