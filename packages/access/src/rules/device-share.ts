/**
 * Maps a device to a number from 0 up to 1. A sample rate keeps the devices below it, so a higher
 * rate keeps every device of a lower one. In ClickHouse: `murmurHash3_32(toString(device_uuid)) /
 * 4294967296`.
 *
 * @param uuid 36 characters, in upper or lower case
 */
export function deviceShare(uuid: string): number {
  const text = uuid.toLowerCase()
  let hash = 0
  for (let at = 0; at < 36; at += 4) {
    let block =
      text.charCodeAt(at) |
      (text.charCodeAt(at + 1) << 8) |
      (text.charCodeAt(at + 2) << 16) |
      (text.charCodeAt(at + 3) << 24)
    block = Math.imul(block, 0xcc9e2d51)
    block = (block << 15) | (block >>> 17)
    hash ^= Math.imul(block, 0x1b873593)
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  hash ^= 36
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
