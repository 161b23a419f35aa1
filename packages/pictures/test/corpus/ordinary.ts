import { randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { bmp } from './bmp.ts'
import { colorProfile } from './color-profile.ts'
import { latin1, u16, u32 } from '../../../../test/hostile/attack/pictures.ts'
import { chunk, riffChunk, segment, subBlocks } from './containers.ts'
import { box, film } from './planted.ts'
import { blocks, exifBlock, long, short, tiffMetadata, writeTiff } from './tiff-writer.ts'

export interface OrdinaryPicture {
  name: string
  type: string
  bytes: Buffer
}

const dataBytes = 10_000_000

/** Random bytes in place of compressed pixels, which look random too. */
const noise = randomBytes(dataBytes)

/** Cuts the noise into pieces of `bytes` bytes. */
function pieces(bytes: number): Buffer[] {
  const count = Math.floor(dataBytes / bytes)
  return Array.from({ length: count }, (_, n) => noise.subarray(n * bytes, (n + 1) * bytes))
}

/**
 * Creates the data of a scan. A zero follows each 0xff. If `hasRestarts` is set, a restart marker
 * follows every 1,000 bytes.
 */
function scanData(bytes: Buffer, hasRestarts: boolean): Buffer {
  const written = Buffer.alloc(bytes.length * 1.1)
  let to = 0
  let restart = 0
  for (const [at, byte] of bytes.entries()) {
    written[to++] = byte
    if (byte === 0xff) written[to++] = 0
    if (hasRestarts && at % 1_000 === 999) {
      written[to++] = 0xff
      written[to++] = 0xd0 + (restart++ % 8)
    }
  }
  return written.subarray(0, to)
}

const frame = segment(0xc0, Buffer.from([8, 11, 184, 15, 160, 1, 1, 0x11, 0]))
const table = segment(0xc4, Buffer.alloc(200))
const scan = (data: Buffer) =>
  Buffer.concat([segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])), data])

function jpeg(scans: Buffer[]): Buffer {
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe1, 'Exif\0\0', exifBlock({ orientation: 6 })),
    segment(0xe2, 'ICC_PROFILE\0\x01\x01', colorProfile()),
    frame,
    ...scans.flatMap((data) => [table, scan(data)]),
    Buffer.from([0xff, 0xd9]),
    film(),
  ])
}

function png(dataChunks: Buffer[], profile = colorProfile({ isCompressed: true })): Buffer {
  return Buffer.concat([
    latin1('\x89PNG\r\n\x1a\n'),
    chunk('IHDR', u32(4_000, 3_000), Buffer.from([8, 2, 0, 0, 0])),
    chunk('iCCP', 'Display\0\0', profile),
    chunk('eXIf', exifBlock({ orientation: 6 })),
    ...dataChunks,
    chunk('IEND'),
  ])
}

/**
 * A profile with tables that are hard to compress, like that of a printer. All its tags are needed
 * to render a picture.
 */
export function profileOfTables(bytes: number): Buffer {
  const profile = Buffer.concat([Buffer.alloc(144), noise.subarray(0, bytes - 144)])
  profile.write('acsp', 36)
  profile.writeUInt32BE(1, 128)
  profile.write('A2B0', 132)
  profile.writeUInt32BE(144, 136)
  profile.writeUInt32BE(bytes - 144, 140)
  return profile
}

function gif(frames: Buffer[]): Buffer {
  const control = Buffer.from([0x21, 0xf9, 4, 0, 10, 0, 0, 0])
  const image = Buffer.from([0x2c, 0, 0, 0, 0, 0x20, 3, 0x58, 2, 0, 8])
  return Buffer.concat([
    latin1('GIF89a'),
    Buffer.from([0x20, 3, 0x58, 2, 0, 0, 0]),
    latin1('\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0'),
    ...frames.flatMap((content) => [control, image, subBlocks(content)]),
    Buffer.from([0x3b]),
  ])
}

function webp(chunks: Buffer[]): Buffer {
  const extended = Buffer.from([0x2c, 0, 0, 0, 0x9f, 0x0f, 0, 0xb7, 0x0b, 0])
  const exif = riffChunk('EXIF', exifBlock({ orientation: 6 }))
  return riffChunk('RIFF', latin1('WEBP'), riffChunk('VP8X', extended), ...chunks, exif)
}

/** Creates an image of tiles, with Exif, as phones write it. */
function heif(brand: string, kind: string, tiles: Buffer[]): Buffer {
  const exif = exifBlock()
  const all = [...tiles, exif]
  const info = all.map((_, n) =>
    box('infe', u32(0x0200_0000), u16(n + 1, 0), latin1(`${n < tiles.length ? kind : 'Exif'}\0`)),
  )
  const meta = (dataAt: number) => {
    let at = dataAt
    const locations = all.map((content, n) => {
      const location = Buffer.concat([u16(n + 1, 0, 1), u32(at, content.length)])
      at += content.length
      return location
    })
    return box(
      'meta',
      u32(0),
      box('hdlr', u32(0, 0), latin1('pict'), Buffer.alloc(13)),
      box('pitm', u32(0), u16(1)),
      box('iinf', u32(0), u16(all.length), ...info),
      box('iprp', box('ipco', box('ispe', u32(0, 512, 512)))),
      box('iloc', u32(0), u16(0x4400, all.length), ...locations),
    )
  }
  const start = box('ftyp', latin1(`${brand}\0\0\0\0mif1${brand}`))
  const dataAt = start.length + meta(0).length + 8
  return Buffer.concat([start, meta(dataAt), box('mdat', ...all)])
}

/** A TIFF with these strips and with metadata. */
function tiff(strips: Buffer[]): Buffer {
  const entries = [
    long(256, 3_000),
    long(257, strips.length),
    short(258, 8, 8, 8),
    short(259, 1),
    blocks(273, ...strips),
    long(279, ...strips.map(({ length }) => length)),
  ]
  return writeTiff([[...entries, ...tiffMetadata]], { order: 'II' })
}

/**
 * Creates ordinary pictures of 10 MB in all formats. Some have as many parts as any device writes.
 */
export function ordinaryPictures(): OrdinaryPicture[] {
  const whole = scanData(noise, false)
  const pixels = { width: 1_825, height: 1_825, data: noise }
  const printer = deflateSync(profileOfTables(100_000))
  const list: [type: string, name: string, bytes: Buffer][] = [
    ['image/jpeg', 'one scan', jpeg([whole])],
    ['image/jpeg', 'a restart every 1,000 bytes', jpeg([scanData(noise, true)])],
    ['image/jpeg', '100 scans', jpeg(pieces(100_000).map((one) => scanData(one, false)))],
    ['image/png', 'chunks of 8 KiB', png(pieces(8_192).map((one) => chunk('IDAT', one)))],
    ['image/png', 'chunks of 1,000 bytes', png(pieces(1_000).map((one) => chunk('IDAT', one)))],
    ['image/png', 'the profile of a printer', png([chunk('IDAT', noise)], printer)],
    ['image/gif', '50 frames', gif(pieces(200_000))],
    ['image/gif', '4,000 frames', gif(pieces(2_500))],
    ['image/webp', 'one image', webp([riffChunk('VP8 ', noise)])],
    [
      'image/webp',
      '2,000 frames',
      webp(pieces(5_000).map((one) => riffChunk('ANMF', Buffer.alloc(16), riffChunk('VP8 ', one)))),
    ],
    ['image/heic', '48 tiles', heif('heic', 'hvc1', pieces(200_000))],
    ['image/heic', '1,000 tiles', heif('heic', 'hvc1', pieces(10_000))],
    ['image/avif', 'one image', heif('avif', 'av01', [noise])],
    ['image/tiff', 'strips of 8 KiB', tiff(pieces(8_192))],
    ['image/tiff', 'strips of 1,250 bytes', tiff(pieces(1_250))],
    ['image/bmp', 'true colour', bmp({ ...pixels, behind: Buffer.alloc(100, 1) })],
  ]
  return list.map(([type, name, bytes]) => ({ type, name, bytes }))
}
