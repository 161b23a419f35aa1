import { createHash } from 'node:crypto'
import { imageTypes, IntakeError, limits } from '@intake/contract'
import type { ByteLease } from '../body/byte-budget.ts'
import { Chunks } from '../body/chunks.ts'
import { imageTypeOf } from './image-type.ts'

/** An image that may be stored. */
export interface Image {
  body: Buffer
  /** Determined from the bytes, never from the file name or the declared type. */
  contentType: string
  extension: string
  /** The hash of the content, in hexadecimal. */
  sha256: string
}

/** The result for one file part: an image, or the reason why it cannot be kept. */
export type Upload = { bytes: number } & ({ image: Image } | { refusal: IntakeError })

/**
 * Reads one file part to its end.
 *
 * @param options.index position among the attachments, from 0
 * @throws {IntakeError} `busy` when there is no capacity for the bytes
 */
export async function readUpload(
  stream: AsyncIterable<Buffer> | Iterable<Buffer>,
  options: { index: number; bytesMax: number; lease: ByteLease },
): Promise<Upload> {
  const { index, bytesMax, lease } = options
  const overCount = index >= limits.attachments
  const hash = createHash('sha256')
  const chunks = new Chunks({
    bytesMax: overCount ? 0 : bytesMax,
    onKeep(chunk) {
      lease.extend(chunk.length)
      hash.update(chunk)
    },
  })
  // Reads a part to its end even if it cannot be kept, so that the parser continues.
  for await (const chunk of stream) chunks.add(chunk)
  const { bytes } = chunks
  if (overCount) {
    return refuse('too_many_attachments', {
      index,
      bytes,
      detail: `at most ${limits.attachments} are allowed`,
    })
  }
  if (bytes > bytesMax) {
    return refuse('attachment_too_large', {
      index,
      bytes,
      detail: `must not exceed ${bytesMax} bytes`,
    })
  }
  const body = chunks.concat()
  const contentType = imageTypeOf(body)
  const extension = imageTypes.get(contentType ?? '')
  if (contentType === undefined || extension === undefined) {
    const formats = [...new Set(imageTypes.values())].join(', ')
    return refuse('attachment_not_an_image', {
      index,
      bytes,
      detail: `must be an image: ${formats}`,
    })
  }
  return { bytes, image: { body, contentType, extension, sha256: hash.digest('hex') } }
}

function refuse(
  code: 'too_many_attachments' | 'attachment_too_large' | 'attachment_not_an_image',
  { index, bytes, detail }: { index: number; bytes: number; detail: string },
): Upload {
  const errors = [{ pointer: `/attachments/${index}`, detail }]
  return {
    bytes,
    refusal: new IntakeError(code, 'An attachment cannot be accepted.', { errors }),
  }
}
