import { createHash } from 'node:crypto'
import { imageTypes, IntakeError, limits, type ErrorCode } from '@intake/contract'
import type { Turns } from '@intake/http-edge'
import { examinePicture, PictureError, type Picture } from '@intake/pictures'
import { sha256InTurns } from '@intake/runtime'
import type { ByteLease } from '../request.ts'
import { Chunks } from '../body/chunks.ts'
import { imageTypeOf } from './image-type.ts'

/** The metadata of a larger file is removed in another turn than that in which it is examined. */
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

interface Refused {
  refusal: IntakeError
}

/** A file part that has arrived, of an accepted type; or the error that says why it is not stored. */
export type Received = { bytes: number } & (Sent | Refused)

interface Sent {
  sent: Buffer
  sentSha256: string
  contentType: string
  extension: string
}

/** The result for one file part: an image, or the error that says why the part is not stored. */
export type Upload = { bytes: number } & ({ image: Image } | Refused)

/**
 * Reads one file part to its end. It does not wait for a turn: the parser must not wait.
 *
 * @param options.index position among the attachments, from 0
 * @throws {IntakeError} `busy` when there is no capacity for the bytes
 */
export async function readUpload(
  stream: AsyncIterable<Buffer> | Iterable<Buffer>,
  options: { index: number; rules: AttachmentRules; lease: ByteLease },
): Promise<Received> {
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
  const refuse = (code: AttachmentCode, detail: string): Received => ({
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
  return { bytes, sent, sentSha256: hash.digest('hex'), contentType, extension }
}

/**
 * Examines a file part, and removes the metadata of its image. A picture of a few kilobytes can
 * take as long as a large one, so this waits for the turn of the API key.
 *
 * @param options.index position among the attachments, from 0
 * @param options.account the API key of the request
 */
export async function examineUpload(
  received: Received,
  options: { index: number; rules: AttachmentRules; turns: Turns; account: string },
): Promise<Upload> {
  if ('refusal' in received) return received
  const { index, rules, turns, account } = options
  const { bytes, sent, sentSha256, contentType, extension } = received
  const refuse = (code: AttachmentCode, detail: string): Upload => ({
    bytes,
    refusal: refusalOf(code, index, detail),
  })
  const picture = await turns.takeLong(account, () => examine(sent, contentType))
  if (picture instanceof PictureError) {
    return refuse('attachment_unreadable', `cannot be read as ${extension}: ${picture.message}`)
  }
  if (picture.width * picture.height > rules.pixelsMax) {
    return refuse('attachment_too_many_pixels', `must not have more than ${rules.pixelsMax} pixels`)
  }
  const image = { contentType, extension, sentSha256 }
  if (rules.keepsMetadata || picture.isClean) {
    return { bytes, image: { ...image, body: sent, sha256: sentSha256 } }
  }
  const remove = () => picture.removeMetadata()
  // Examining a large image takes up to 20 ms and removing its metadata up to 5 ms.
  const body = bytes > bytesPerTurn ? await turns.takeLong(account, remove) : remove()
  return { bytes, image: { ...image, body, sha256: await sha256InTurns(body) } }
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
