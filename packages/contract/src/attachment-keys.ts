/**
 * The key of an attachment in the object store: `feedback/YYYY/MM/DD/<id of the
 * feedback>/<number>-<SHA-256>.<extension>`.
 *
 * @param attachment.time time of the feedback, ISO 8601 in UTC
 * @param attachment.number counts from 1
 */
export function attachmentKey(attachment: {
  id: string
  time: string
  number: number
  sha256: string
  extension: string
}): string {
  const { id, time, number, sha256, extension } = attachment
  return `${attachmentPrefix(time.slice(0, 10))}${id}/${number}-${sha256}.${extension}`
}

/**
 * Returns the prefix of all keys of a period. No other key begins with it.
 *
 * @param period `YYYY-MM-DD` or `YYYY-MM`
 */
export function attachmentPrefix(period: string): string {
  return `feedback/${period.replaceAll('-', '/')}/`
}

const pattern =
  /^feedback\/\d{4}\/\d\d\/\d\d\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(\d+)-[0-9a-f]{64}\.[a-z]{3,4}$/

/**
 * Parses the key of an attachment into the id of the feedback and the number of the attachment.
 * Returns undefined for any other key, such as the key of a thumbnail.
 */
export function parseAttachmentKey(key: string): { id: string; number: number } | undefined {
  const [, id, number] = pattern.exec(key) ?? []
  return id === undefined ? undefined : { id, number: Number(number) }
}

const thumbnailSuffix = '.thumbnail.webp'

/**
 * The key of an attachment's thumbnail. It begins with the attachment's key. So a list of the
 * objects with the attachment's key as prefix contains the thumbnail, even if no row names it.
 */
export function thumbnailKey(key: string): string {
  return `${key}${thumbnailSuffix}`
}

/** Maximum size of a thumbnail in bytes. A thumbnail of 400 × 400 pixels is always smaller. */
export const thumbnailBytesMax = 1024 * 1024

/** Turns the key of a thumbnail into the key of its attachment. Returns other keys unchanged. */
export function originalKey(key: string): string {
  return key.endsWith(thumbnailSuffix) ? key.slice(0, -thumbnailSuffix.length) : key
}
