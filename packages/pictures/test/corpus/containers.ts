import { crc32 } from 'node:zlib'
import { u16, u32 } from '../../../../test/hostile/attack/pictures.ts'
import { box, planted } from './planted.ts'

const jpegStart = Buffer.from([0xff, 0xd8])

/** Creates a segment of a JPEG: the marker, the length and the contents. */
export function segment(marker: number, ...contents: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(
    contents.map((one) => (typeof one === 'string' ? Buffer.from(one, 'latin1') : one)),
  )
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}

/** Puts segments after the start of a JPEG, and bytes after its end. */
export function jpegWith(
  jpeg: Buffer,
  segments: Buffer[],
  behind: Buffer = Buffer.alloc(0),
): Buffer {
  return Buffer.concat([jpegStart, ...segments, jpeg.subarray(2), behind])
}

export function chunk(type: string, ...contents: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(
    [type, ...contents].map((one) => (typeof one === 'string' ? Buffer.from(one, 'latin1') : one)),
  )
  const framed = Buffer.alloc(content.length + 8)
  framed.writeUInt32BE(content.length - 4)
  content.copy(framed, 4)
  framed.writeUInt32BE(crc32(content), framed.length - 4)
  return framed
}

/**
 * Puts `early` chunks after the header of a PNG, `late` chunks before its end, and the bytes
 * `behind` after its end.
 */
export function pngWith(
  png: Buffer,
  more: { early?: Buffer[]; late?: Buffer[]; behind?: Buffer },
): Buffer {
  const { early = [], late = [], behind = Buffer.alloc(0) } = more
  const end = png.length - 12
  return Buffer.concat([
    png.subarray(0, 33),
    ...early,
    png.subarray(33, end),
    ...late,
    png.subarray(end),
    behind,
  ])
}

/**
 * Makes an animation of two frames that both have the pixels of a PNG.
 *
 * @param isFrameFirst whether the header of the first frame is before that of the animation, as
 * some programs write it
 */
export function animatedPng(png: Buffer, isFrameFirst = false): Buffer {
  const width = png.subarray(16, 20)
  const height = png.subarray(20, 24)
  const control = (sequence: number) =>
    chunk('fcTL', u32(sequence), width, height, Buffer.alloc(8), Buffer.from([0, 1, 0, 10, 0, 0]))
  const data: Buffer[] = []
  for (let at = 33; at < png.length;) {
    const size = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + size))
    at += size + 12
  }
  const headers = [chunk('acTL', u32(2), u32(0)), control(0)]
  return pngWith(png, {
    early: isFrameFirst ? headers.toReversed() : headers,
    late: [control(1), chunk('fdAT', u32(2), ...data)],
  })
}

export function riffChunk(type: string, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const head = Buffer.alloc(8)
  head.write(type)
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
}

/** Appends chunks to those of a WebP. The result has the extended format (`VP8X`). */
export function webpWith(
  webp: Buffer,
  chunks: [type: string, content: Buffer][],
  { width, height }: { width: number; height: number },
): Buffer {
  const isExtended = webp.toString('latin1', 12, 16) === 'VP8X'
  const flags = isExtended ? webp.readUInt8(20) : 0
  const extended = Buffer.alloc(10)
  extended.writeUInt8(flags | (chunks.some(([type]) => type === 'EXIF') ? 8 : 0) | 4)
  extended.writeUIntLE(width - 1, 4, 3)
  extended.writeUIntLE(height - 1, 7, 3)
  const rest = webp.subarray(isExtended ? 30 : 12)
  const content = Buffer.concat([
    Buffer.from('WEBP'),
    riffChunk('VP8X', extended),
    rest,
    ...chunks.map(([type, bytes]) => riffChunk(type, bytes)),
  ])
  return riffChunk('RIFF', content)
}

export function subBlocks(content: Buffer): Buffer {
  const blocks: Buffer[] = []
  for (let at = 0; at < content.length; at += 255) {
    const part = content.subarray(at, at + 255)
    blocks.push(Buffer.from([part.length]), part)
  }
  return Buffer.concat([...blocks, Buffer.from([0])])
}

/** Creates a GIF extension that contains text, such as a comment. */
export function gifExtension(
  label: number,
  content: Buffer,
  head: Buffer = Buffer.alloc(0),
): Buffer {
  return Buffer.concat([Buffer.from([0x21, label]), head, subBlocks(content)])
}

/** Puts extensions after the colour table of a GIF, and bytes after its end. */
export function gifWith(
  gif: Buffer,
  extensions: Buffer[],
  behind: Buffer = Buffer.alloc(0),
): Buffer {
  const flags = gif.readUInt8(10)
  const start = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  return Buffer.concat([gif.subarray(0, start), ...extensions, gif.subarray(start), behind])
}

/** Returns the range of the first box of a type between two positions, including its header. */
function find(bytes: Buffer, from: number, to: number, type: string): [from: number, to: number] {
  for (let at = from; at < to;) {
    const size = bytes.readUInt32BE(at)
    if (bytes.toString('latin1', at + 4, at + 8) === type) return [at, at + size]
    at += size
  }
  throw new Error(`there is no ${type}`)
}

/**
 * Creates a file of the HEIF family with the first image of `source` and with other `items`, such
 * as Exif, XMP or a link. The properties and the data of the image are copied. Everything else is
 * written anew.
 */
export function heifWith(
  source: Buffer,
  options: {
    brand: string
    items: [type: string, content: Buffer][]
    atTop?: Buffer[]
    behind?: Buffer
  },
): Buffer {
  const { brand, items, atTop = [], behind = Buffer.alloc(0) } = options
  const [metaFrom, metaTo] = find(source, 0, source.length, 'meta')
  const child = (type: string) => source.subarray(...find(source, metaFrom + 12, metaTo, type))
  const image = imageOf(source, child('iloc'))
  const kind = child('iinf').toString('latin1', 30, 34)
  const all: [type: string, content: Buffer][] = [[kind, image], ...items]
  const information = all.map(([type], n) =>
    box(
      'infe',
      Buffer.from([2, 0, 0, 0]),
      u16(n + 1, 0),
      Buffer.from(
        type + (n > 0 ? 'PLANTED name\0' : '\0') + (type === 'mime' ? 'application/rdf+xml\0' : ''),
      ),
    ),
  )
  const itemInfo = box('iinf', Buffer.alloc(4), u16(all.length), ...information)
  const relations = box(
    'iref',
    Buffer.alloc(4),
    ...items.map((_item, n) => box('cdsc', u16(n + 2, 1, 1))),
  )
  const properties = withProperties(relabel(child('iprp'), 1), [
    box('crtt', Buffer.from('PLANTED-')),
    box('free', Buffer.from(planted)),
  ])
  const primary = box('pitm', Buffer.alloc(4), u16(1))
  const locations = (dataAt: number) => {
    let at = dataAt
    const entries = all.map(([, content], n) => {
      const entry = Buffer.concat([u16(n + 1, 0, 1), u32(at), u32(content.length)])
      at += content.length
      return entry
    })
    return box('iloc', Buffer.from([0, 0, 0, 0, 0x44, 0]), u16(all.length), ...entries)
  }
  const meta = (dataAt: number) =>
    box(
      'meta',
      Buffer.alloc(4),
      child('hdlr'),
      primary,
      itemInfo,
      relations,
      properties,
      locations(dataAt),
    )
  const start = Buffer.concat([
    box('ftyp', Buffer.from(`${brand}\0\0\0\0mif1${brand}miaf`)),
    ...atTop,
  ])
  const dataAt = start.length + meta(0).length + 8
  return Buffer.concat([
    start,
    meta(dataAt),
    box('mdat', ...all.map(([, content]) => content)),
    behind,
  ])
}

/** Appends boxes to the list of properties in an `iprp`. */
function withProperties(iprp: Buffer, more: Buffer[]): Buffer {
  const [from, to] = find(iprp, 8, iprp.length, 'ipco')
  const list = box('ipco', iprp.subarray(from + 8, to), ...more)
  return box('iprp', iprp.subarray(8, from), list, iprp.subarray(to))
}

/** Returns the data of the first item in an `iloc` box. The item must have one extent. */
function imageOf(source: Buffer, iloc: Buffer): Buffer {
  const version = iloc.readUInt8(8)
  const [offsetBytes, lengthBytes, baseBytes] = [
    iloc[12]! >> 4,
    iloc[12]! & 15,
    iloc[13]! >> 4,
  ] as const
  if (version > 1) throw new Error('another version of iloc')
  let at = 14 + 2 + 2 + (version === 1 ? 2 : 0) + 2
  const next = (size: number) => {
    const value = size === 0 ? 0 : iloc.readUIntBE(at, size)
    at += size
    return value
  }
  const base = next(baseBytes)
  next(2)
  const offset = base + next(offsetBytes)
  return source.subarray(offset, offset + next(lengthBytes))
}

/** Copies the properties. In the copy, the properties of the first item belong to the item `id`. */
function relabel(properties: Buffer, id: number): Buffer {
  const copy = Buffer.from(properties)
  const [from] = find(copy, 8, copy.length, 'ipma')
  copy.writeUInt16BE(id, from + 16)
  return copy
}
