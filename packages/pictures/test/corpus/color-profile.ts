import { deflateSync } from 'node:zlib'
import { planted } from './planted.ts'

const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const fixed = (value: number) => number(Math.round(value * 65_536))
const xyz = (x: number, y: number, z: number) =>
  Buffer.concat([Buffer.from('XYZ \0\0\0\0'), fixed(x), fixed(y), fixed(z)])
/** The curve of a gamma of 2.2. */
const curve = Buffer.concat([Buffer.from('curv\0\0\0\0'), number(1), Buffer.from([2, 51, 0, 0])])
const text = (value: string) =>
  Buffer.concat([
    Buffer.from('mluc\0\0\0\0'),
    number(1),
    number(12),
    Buffer.from('enUS'),
    number(value.length * 2),
    number(28),
    Buffer.from(value, 'utf16le').swap16(),
  ])

/**
 * Creates a valid display profile, like the ones from macOS and Linux. It contains the planted text
 * as the serial number of the display, and parts of this text in fields of the header.
 */
export function colorProfile({ isCompressed = false } = {}): Buffer {
  const tags: [name: string, content: Buffer][] = [
    ['desc', text('Display')],
    ['cprt', text('No copyright')],
    ['wtpt', xyz(0.9642, 1, 0.8249)],
    ['rXYZ', xyz(0.4361, 0.2225, 0.0139)],
    ['gXYZ', xyz(0.3851, 0.7169, 0.0971)],
    ['bXYZ', xyz(0.1431, 0.0606, 0.7139)],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
    ['mmod', Buffer.concat([Buffer.from('mmod\0\0\0\0'), Buffer.from(`${planted}..`)])],
    ['meta', Buffer.concat([Buffer.from('dict\0\0\0\0'), Buffer.from(`EDID ${planted}`)])],
  ]
  const header = Buffer.alloc(128)
  header.writeUInt32BE(0x04300000, 8)
  header.write('mntrRGB XYZ ', 12)
  header.write('acsp', 36)
  fixed(0.9642).copy(header, 68)
  fixed(1).copy(header, 72)
  fixed(0.8249).copy(header, 76)
  header.fill(0xab, 84, 100)
  // Plants traces in these fields: the time of creation, the manufacturer and model, the maker of
  // the profile, and the reserved bytes.
  for (const [from, to] of [
    [24, 36],
    [48, 56],
    [80, 84],
    [100, 128],
  ] as const) {
    header.write(planted.slice(0, to - from), from)
  }
  let at = 128 + 4 + tags.length * 12
  const table: Buffer[] = [number(tags.length)]
  const contents: Buffer[] = []
  for (const [name, content] of tags) {
    const padded = Buffer.concat([content, Buffer.alloc(-content.length & 3)])
    table.push(Buffer.from(name), number(at), number(content.length))
    contents.push(padded)
    at += padded.length
  }
  header.writeUInt32BE(at)
  const profile = Buffer.concat([header, ...table, ...contents])
  return isCompressed ? deflateSync(profile) : profile
}
