import { sqlTime } from '@intake/clickhouse'
import { imageTypes, originalKey, parseAttachmentKey, thumbnailBytesMax } from '@intake/contract'
import type { ObjectStore } from '@intake/object-store'
import { examinePicture, PictureError } from '@intake/pictures'
import { sha256InTurns } from '@intake/runtime'
import { PageError } from './page-error.ts'
import { type Attachment, type RecordReader } from './records.ts'
import { timeOfId } from './search.ts'

export type PictureStore = Pick<ObjectStore, 'get'>

const bytesMax = 32 * 1024 * 1024

/**
 * Reads the original of a picture, which must have the SHA-256 of its row, or its thumbnail. Unless
 * `keepsMetadata` is set, metadata is removed: earlier gateways stored it.
 *
 * @throws {PageError} 404 if no feedback has the picture; 413 if the picture is too large; 502 if
 *   the picture is missing in the store or differs from the row, or its structure cannot be read
 */
export async function readPicture(
  key: string,
  options: { reader: RecordReader; store: PictureStore; keepsMetadata: boolean },
) {
  const { reader, store, keepsMetadata } = options
  const { id, number } = parseAttachmentKey(originalKey(key)) ?? { id: '' }
  const attachment = await findAttachment(reader, { key: originalKey(key), id })
  if (attachment?.thumbnail_key === key) {
    const body = await store.get(key, { bytesMax: thumbnailBytesMax })
    if (body === undefined) throw new PageError(502, 'The thumbnail is not in the object store.')
    return { body, contentType: 'image/webp', fileName: `${id}-${number}-thumbnail.webp` }
  }
  const extension = imageTypes.get(attachment?.content_type ?? '')
  if (attachment?.key !== key || extension === undefined)
    throw new PageError(404, 'No feedback has this picture.')
  if (attachment.bytes > bytesMax)
    throw new PageError(413, 'The picture is too large to be shown. Read it from the object store.')
  const body = await store.get(key, { bytesMax: attachment.bytes })
  if (body === undefined) throw new PageError(502, 'The picture is not in the object store.')
  if ((await sha256InTurns(body)) !== attachment.sha256)
    throw new PageError(502, 'The object in the store is not the picture that was accepted.')
  const contentType = attachment.content_type
  return {
    body: keepsMetadata ? body : withoutMetadata(body, contentType),
    contentType,
    fileName: `${id}-${number}.${extension}`,
  }
}

function withoutMetadata(body: Buffer, contentType: string): Buffer {
  try {
    return examinePicture(body, contentType).removeMetadata()
  } catch (error) {
    if (!(error instanceof PictureError)) throw error
    throw new PageError(502, 'The structure of the picture cannot be read, so it is not shown.')
  }
}

async function findAttachment(
  reader: RecordReader,
  { key, id }: { key: string; id: string },
): Promise<Attachment | undefined> {
  const timeMs = timeOfId(id)
  if (timeMs === undefined) return undefined
  const rows = await reader.query<{ attachments: Attachment[] }>(
    `SELECT attachments FROM intake.feedback
     WHERE time = {time:DateTime64(3, 'UTC')} AND id = {id:UUID} LIMIT 10`,
    { time: sqlTime(new Date(timeMs)), id },
  )
  return rows.flatMap(({ attachments }) => attachments).find((one) => one.key === key)
}
