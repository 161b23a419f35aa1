import { createHash } from 'node:crypto'
import { insertLines, isoTime, type ClickHouse } from '@intake/clickhouse'
import { parseAttachmentKey, thumbnailKey } from '@intake/contract'
import type { ObjectStore } from '@intake/object-store'
import { DecoderEndedError, type Decoder } from './decoder-process.ts'
import { pictureBytesMax, type Examined, type ThumbnailError } from './examined.ts'
import type { Attachment } from '../page/records.ts'
import { readUnexamined, type UnexaminedFeedback } from './find-feedback.ts'

export interface ExamineOptions {
  reader: Pick<ClickHouse, 'query'>
  store: Pick<ClickHouse, 'insertRows'>
  objects: Pick<ObjectStore, 'get' | 'put'>
  decoder: Pick<Decoder, 'examine'>
  count: (outcome: 'made' | 'again' | ThumbnailError) => void
  isClosed: () => boolean
  /** Called when the decoder ended while it examined a picture. */
  onDecoderEnded: (error: DecoderEndedError) => void
}

/** Errors after which another attempt may succeed. */
const temporary = new Set<unknown>(['missing', 'undecodable', 'decoder_ended'])

/**
 * Stores the thumbnails of a feedback, then the facts about its pictures. The row of the feedback
 * does not change. Resolves to false, and stores nothing, if a picture must be tried again or the
 * console is closing.
 *
 * @param options.isLastAttempt if true, the error of a picture that fails again is stored as a fact
 */
export async function examineFeedback(
  feedback: UnexaminedFeedback,
  options: ExamineOptions & { isLastAttempt: boolean },
): Promise<boolean> {
  const { reader, store, objects, count, isClosed, isLastAttempt } = options
  const attachments = await readUnexamined(reader, feedback)
  if (attachments === undefined) return true
  const found: { key: string; examined: Examined }[] = []
  for (const attachment of attachments) {
    const examined = await examine(attachment, options)
    // A console that closes ends the decoder, so an error may say nothing about the picture.
    if (isClosed()) return false
    if (temporary.has(examined.error) && !isLastAttempt) {
      count('again')
      return false
    }
    found.push({ key: attachment.key, examined })
  }
  // Decoding takes a while, and the feedback may have been erased meanwhile. If it is erased after
  // this check, the erasure finds the thumbnails, because the erasure lists objects a second time.
  if ((await readUnexamined(reader, feedback)) === undefined) return true
  if (isClosed()) return false
  for (const { key, examined } of found) {
    const { thumbnail: body } = examined
    if (body === undefined) continue
    const sha256 = createHash('sha256').update(body).digest('hex')
    await objects.put({ key: thumbnailKey(key), body, contentType: 'image/webp', sha256 })
  }
  await storeFacts(store, feedback, found)
  for (const { examined } of found) count(examined.error ?? 'made')
  return true
}

async function examine(
  attachment: Attachment,
  { objects, decoder, isClosed, onDecoderEnded }: ExamineOptions,
): Promise<Examined> {
  const { key, content_type: contentType, bytes, sha256 } = attachment
  // Gateways make keys in one form. An object whose key has another form is no accepted picture.
  if (parseAttachmentKey(key) === undefined) return { error: 'differs' }
  if (bytes > pictureBytesMax) return { error: 'bytes' }
  const body = await objects.get(key, { bytesMax: pictureBytesMax })
  if (body === undefined) return { error: 'missing' }
  try {
    return await decoder.examine(body, { contentType, sha256 })
  } catch (error) {
    if (!(error instanceof DecoderEndedError)) throw error
    if (!isClosed()) onDecoderEnded(error)
    return { error: 'decoder_ended' }
  }
}

async function storeFacts(
  store: Pick<ClickHouse, 'insertRows'>,
  { bundle_identifier, time, id, device_uuid }: UnexaminedFeedback,
  found: readonly { key: string; examined: Examined }[],
): Promise<void> {
  const facts = found.map(({ key, examined: { width, height, thumbnail, error } }) => ({
    key,
    width: width ?? null,
    height: height ?? null,
    thumbnail_key: thumbnail === undefined ? null : thumbnailKey(key),
    error: error ?? null,
  }))
  const row = { bundle_identifier, time: isoTime(time), id, device_uuid, facts }
  await insertLines(store, { table: 'attachments', lines: [JSON.stringify(row)] })
}
