import { crc32, deflateSync } from 'node:zlib'

type Colour = readonly [number, number, number]

const width = 216
const height = 432
const bar = 48
const paper: Colour = [248, 248, 250]
const card: Colour = [226, 228, 234]
const alarm: Colour = [214, 60, 60]

/** Draws a screenshot of an invented app as PNG. `variant` moves its message. */
export function drawScreenshot(colour: Colour, variant: number): Buffer {
  const messageAt = bar + 30 + (variant % 5) * 66
  const colourAt = (x: number, y: number): Colour => {
    if (y < bar) return colour
    if (x < 14 || x >= width - 14) return paper
    if (y >= messageAt && y < messageAt + 40) return alarm
    return (y - bar) % 66 >= 16 ? card : paper
  }
  // Each line begins with the number of its filter; 0 is none.
  const lines = Buffer.alloc(height * (1 + 3 * width))
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) lines.set(colourAt(x, y), y * (1 + 3 * width) + 1 + 3 * x)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8) // 8 bits for each of red, green and blue
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, sum])
}
