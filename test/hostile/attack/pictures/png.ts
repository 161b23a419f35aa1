import { crc32, deflateSync } from 'node:zlib'
import {
  type CostlyPicture,
  bytesMax,
  filled,
  hex,
  latin1,
  manyParts,
  times,
  tooMany,
  u32,
} from './bytes.ts'
import { longExif, profileOf } from './metadata.ts'

const pngHeader = hex('89504e470d0a1a0a0000000d494844520000001000000010080200000090916836')

function pngChunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([latin1(type), content])
  return Buffer.concat([u32(content.length), named, u32(crc32(named))])
}

const pngEnd = Buffer.concat([pngChunk('IDAT', Buffer.alloc(1)), pngChunk('IEND', Buffer.alloc(0))])

/**
 * Bytes of 0 and 1 in random order. Compressing them is slow: the search for repetitions finds many
 * of about the same length.
 */
function bits(bytes: number): Buffer {
  const content = Buffer.alloc(bytes)
  let state = 1
  for (let at = 0; at < bytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    content[at] = state >>> 31
  }
  return content
}

/** Eight empty compressed blocks, each with its own tables of codes. */
const emptyBlocks = hex(
  '04c081000000000090ff6b100007020000000040feaf41001c080000000000f9bf06' +
    '0170200000000000e4ff1a04c081000000000090ff6b100007020000000040feaf41' +
    '001c080000000000f9bf060170200000000000e4ff1a',
)

/** A compressed profile that is filled up to about `bytes` bytes with empty blocks. */
function paddedProfile(bytes: number): Buffer {
  const compressed = deflateSync(profileOf(Buffer.alloc(1_000)))
  const count = Math.floor((bytes - compressed.length) / emptyBlocks.length)
  return Buffer.concat([
    compressed.subarray(0, 2),
    times(emptyBlocks, count),
    compressed.subarray(2),
  ])
}

const pngProfile = (compressed: Buffer) =>
  Buffer.concat([pngHeader, pngChunk('iCCP', Buffer.concat([latin1('x\0\0'), compressed])), pngEnd])

export const pngOfManyParts: readonly CostlyPicture[] = [
  {
    name: 'chunks without content, kept and removed in turn',
    type: 'image/png',
    bytes: () => filled(pngHeader, hex('000000004944415435af061e000000007445587400000000')),
    refusal: tooMany,
  },
]

export const craftedPng: readonly CostlyPicture[] = [
  {
    name: 'a compressed profile of 10 MB without content',
    type: 'image/png',
    bytes: () => pngProfile(paddedProfile(bytesMax - 200)),
  },
  {
    name: 'a compressed profile of 100 KB without content',
    type: 'image/png',
    bytes: () => pngProfile(paddedProfile(100_000)),
  },
  {
    name: 'a profile that is hard to compress again',
    type: 'image/png',
    bytes: () => pngProfile(deflateSync(profileOf(bits(500_000)), { level: 9 })),
  },
  {
    name: 'a profile that is hard to compress again, and texts, as many as possible',
    type: 'image/png',
    bytes() {
      const profile = deflateSync(profileOf(bits(500_000)), { level: 9 })
      const text = pngChunk('tEXt', Buffer.from('a'))
      const pixels = pngChunk('IDAT', Buffer.alloc(1_000))
      const head = Buffer.concat([
        pngHeader,
        pngChunk('iCCP', Buffer.concat([latin1('x\0\0'), profile])),
      ])
      return Buffer.concat([head, times(Buffer.concat([pixels, text]), manyParts / 2 - 10), pngEnd])
    },
  },
  {
    name: 'Exif with a thousand entries, many times',
    type: 'image/png',
    bytes: () => filled(pngHeader, pngChunk('eXIf', longExif), pngEnd),
  },
]
