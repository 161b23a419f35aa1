/**
 * `feedback/YYYY/MM/DD/<id of the feedback>/<number>-<SHA-256>.<extension>`
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
 * The prefix of all keys of a period, and of no other.
 *
 * @param period `YYYY-MM-DD` or `YYYY-MM`
 */
export function attachmentPrefix(period: string): string {
  return `feedback/${period.replaceAll('-', '/')}/`
}

const pattern =
  /^feedback\/\d{4}\/\d\d\/\d\d\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(\d+)-[0-9a-f]{64}\.[a-z]{3,4}$/

/** Undefined for any other key, such as that of a thumbnail. */
export function parseAttachmentKey(key: string): { id: string; number: number } | undefined {
  const [, id, number] = pattern.exec(key) ?? []
  return id === undefined ? undefined : { id, number: Number(number) }
}

const thumbnailSuffix = '.thumbnail.webp'

/** Begins with the attachment's key: a list by that prefix has it even if no row names it. */
export function thumbnailKey(key: string): string {
  return `${key}${thumbnailSuffix}`
}

/** Maximum size of a thumbnail in bytes. A thumbnail of 400 × 400 pixels is always smaller. */
export const thumbnailBytesMax = 1024 * 1024

/** Turns the key of a thumbnail into the key of its attachment. Returns other keys unchanged. */
export function originalKey(key: string): string {
  return key.endsWith(thumbnailSuffix) ? key.slice(0, -thumbnailSuffix.length) : key
}
