/**
 * Creates a BMP with 24 bits per pixel and the longest header. Its rows are stored from the bottom
 * up.
 */
export function bmp(options: {
  width: number
  height: number
  /** The red, green and blue of each pixel, from the top down. */
  data: Buffer
  gap?: Buffer
  behind?: Buffer
  profile?: Buffer
  /** `MBED` (embedded) or `LINK`, with the letters reversed, as they are in the file. */
  kind?: 'DEBM' | 'KNIL'
}): Buffer {
  const { width, height, data, profile } = options
  const { gap = Buffer.alloc(0), behind = Buffer.alloc(0), kind } = options
  const rowBytes = Math.ceil((width * 3) / 4) * 4
  const pixels = Buffer.alloc(rowBytes * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * 3
      const to = (height - 1 - y) * rowBytes + x * 3
      for (let color = 0; color < 3; color++) pixels[to + 2 - color] = data[from + color] ?? 0
    }
  }
  const header = Buffer.alloc(138)
  const start = header.length + gap.length
  const size = start + pixels.length + (profile?.length ?? 0)
  header.write('BM')
  header.writeUInt32LE(size, 2)
  header.writeUInt32LE(start, 10)
  header.writeUInt32LE(124, 14)
  header.writeUInt32LE(width, 18)
  header.writeUInt32LE(height, 22)
  header.writeUInt16LE(1, 26)
  header.writeUInt16LE(24, 28)
  header.writeUInt32LE(pixels.length, 34)
  header.write(kind ?? 'BGRs', 70)
  if (profile !== undefined) {
    header.writeUInt32LE(size - profile.length - 14, 126)
    header.writeUInt32LE(profile.length, 130)
  }
  return Buffer.concat([header, gap, pixels, profile ?? Buffer.alloc(0), behind])
}
