import { type CostlyPicture, filled, hex, latin1, tooMany } from './bytes.ts'
import { longExif } from './metadata.ts'

const gifHeader = hex('47494638396110001000000000')
const gifImage = hex('2c00000000100010000002')

function webp(fill: Buffer, unit: Buffer): Buffer {
  const chunks = filled(latin1('RIFF....WEBP'), unit, fill)
  chunks.writeUInt32LE(chunks.length - 8, 4)
  return chunks
}

function webpChunk(type: string, content: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(content.length)
  return Buffer.concat([latin1(type), size, content])
}

export const gifAndWebpOfManyParts: readonly CostlyPicture[] = [
  {
    name: 'an image whose data comes a byte at a time',
    type: 'image/gif',
    bytes: () => filled(Buffer.concat([gifHeader, gifImage]), hex('0100'), hex('003b')),
  },
  {
    name: 'empty comments',
    type: 'image/gif',
    bytes: () => filled(gifHeader, hex('21fe00'), hex('3b')),
    refusal: tooMany,
  },
]

export const craftedGifAndWebp: readonly CostlyPicture[] = [
  {
    name: 'Exif with a thousand entries, many times',
    type: 'image/webp',
    bytes: () =>
      webp(webpChunk('VP8L', hex('2f0fc0030000')), webpChunk('EXIF', Buffer.from(longExif))),
  },
]
