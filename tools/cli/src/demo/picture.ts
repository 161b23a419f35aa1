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
  const lines = Array.from({ length: height }, (_, y) => {
    if (y < bar) return line(colour)
    if (y >= messageAt && y < messageAt + 40) return line(alarm)
    return line((y - bar) % 66 >= 16 ? card : paper)
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8) // 8 bits for each of red, green and blue
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001A\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A line begins with the number of its filter; 0 is none. */
const line = (colour: Colour): Buffer =>
  Buffer.concat([Buffer.alloc(1), Buffer.alloc(3 * width, Buffer.from(colour))])

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const around = Buffer.alloc(8)
  around.writeUInt32BE(data.length, 0)
  around.writeUInt32BE(crc32(content), 4)
  return Buffer.concat([around.subarray(0, 4), content, around.subarray(4)])
}
