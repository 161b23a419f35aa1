import { PictureError } from '../picture-error.ts'
import { fourLetters, type Reader } from '../reader.ts'
import type { Box, HeifWalk } from './heif-walk.ts'
import { zeroJpegMetadata } from './jpeg.ts'

const jpeg = fourLetters('jpeg')

export interface Location {
  id: number
  /** The offsets count from the start of the file, of the content of `idat`, or of another item. */
  place: 'file' | 'idat' | 'item'
  extents: { offset: number; length: number }[]
}

/** Keeps the box that says where the data of each item is. Returns these locations. */
export function keepLocations({ reader, ranges, edit, parts }: HeifWalk, box: Box): Location[] {
  ranges.add(box.from, box.to)
  const version = reader.u8(box.content)
  if (version > 2) throw new PictureError('it has items of an unknown version')
  const numberBytes = reader.u16(box.content + 4)
  const [offsetBytes, lengthBytes, baseBytes, indexBytes] = [12, 8, 4, 0].map(
    (shift) => (numberBytes >> shift) & 0xf,
  ) as [number, number, number, number]
  let at = box.content + 6
  const next = (bytes: number) => {
    const value = readNumber(reader, at, bytes)
    at += bytes
    if (at > box.to) throw new PictureError('its list of items ends too early')
    return value
  }
  const idBytes = version < 2 ? 2 : 4
  const count = next(idBytes)
  const locations: Location[] = []
  for (let item = 0; item < count; item++) {
    parts.add()
    const id = next(idBytes)
    const method = version === 0 ? 0 : next(2) & 0xf
    next(2)
    const base = next(baseBytes)
    const extents: Location['extents'] = []
    for (let left = next(2); left > 0; left--) {
      parts.add()
      if (version > 0) next(indexBytes)
      const offset = base + next(offsetBytes)
      // A length of zero means that the data extends to the end of its container.
      extents.push({ offset, length: next(lengthBytes) || Infinity })
    }
    locations.push({ id, place: method === 0 ? 'file' : method === 1 ? 'idat' : 'item', extents })
  }
  edit.zero(at, box.to)
  return locations
}

function readNumber(reader: Reader, at: number, bytes: number): number {
  if (bytes === 0) return 0
  if (bytes === 2 || bytes === 4 || bytes === 8) return reader.number(at, bytes)
  throw new PictureError('its list of items has numbers of an unknown size')
}

/**
 * Zeroes the data of an item that is not an image. In most files this data is zeroed anyway,
 * because nothing keeps it. But in a hostile file an image may refer to the same bytes and thereby
 * keep them.
 */
export function zeroData(
  { bytes, edit, dataBytes }: HeifWalk,
  { place, extents }: Location,
  data?: Box,
): void {
  if (place === 'item' || (place === 'idat' && data === undefined)) return
  const [from, end] = place === 'file' ? [0, bytes.length] : [data!.content, data!.to]
  for (const { offset, length } of extents) {
    // `Infinity` stands for a length of 0 in the file, which can also mean that the item is empty.
    // An empty item may have the offset of an image, so nothing is zeroed.
    if (length === Infinity) continue
    const range = [Math.min(from + offset, end), Math.min(from + offset + length, end)] as const
    dataBytes.add(range[1] - range[0])
    edit.zero(...range)
  }
}

/** Keeps the data of an image. If the image is a JPEG, its metadata is zeroed. */
export function keepData(
  walk: HeifWalk,
  { place, extents }: Location,
  { kind, data }: { kind: number; data: Box | undefined },
): void {
  if (place === 'item') throw new PictureError('an image of it is a part of another item')
  const from = place === 'file' ? 0 : data?.content
  const end = place === 'file' ? walk.bytes.length : data?.to
  if (from === undefined || end === undefined)
    throw new PictureError('it lacks the data of an item')
  for (const { offset, length } of extents) {
    const to = Math.min(from + offset + length, end)
    const start = from + offset
    walk.ranges.add(start, to)
    if (kind !== jpeg) continue
    if (extents.length > 1) throw new PictureError('a JPEG in it has several parts')
    if (start >= to) continue
    walk.dataBytes.add(to - start)
    zeroJpegMetadata(walk, { start, end: to })
  }
}
