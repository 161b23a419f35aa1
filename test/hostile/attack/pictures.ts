import { mebibyte } from './bodies.ts'

const bytesMax = 10 * mebibyte - 100

/** Repeats a part as often as it fits between a beginning and an end. */
function filled(start: string, part: string, end = ''): Buffer {
  const [head, unit, tail] = [start, part, end].map((hex) => Buffer.from(hex, 'hex')) as [
    Buffer,
    Buffer,
    Buffer,
  ]
  const count = Math.floor((bytesMax - head.length - tail.length) / unit.length)
  return Buffer.concat([head, Buffer.alloc(count * unit.length, unit), tail])
}

/** A frame of 16 times 16 pixels, and the start of its scan. */
const jpegScan = 'ffd8ffc0000b080010001001011100ffda0008010100003f00'
const pngHeader = '89504e470d0a1a0a0000000d494844520000001000000010080200000090916836'

const gifHeader = '47494638396110001000000000'

/** Files that are as large as allowed and have as many parts as possible, or need as many steps. */
export const costlyPictures: readonly Buffer[] = [
  // Segments of four bytes; scans of escaped bytes only, and of restarts only.
  filled('ffd8', 'ffe10002'),
  filled(jpegScan, 'ff00', 'ffd9'),
  filled(jpegScan, 'ffd0', 'ffd9'),
  // Chunks without content; every second one is removed.
  filled(pngHeader, '000000004944415435af061e000000007445587400000000'),
  // An image whose data comes one byte at a time, and empty comments.
  filled(`${gifHeader}2c00000000100010000002`, '0100', '003b'),
  filled(gifHeader, '21fe00', '3b'),
  // Boxes without content.
  filled('000000186674797068656963000000006d69663168656963', '0000000866726565'),
]
