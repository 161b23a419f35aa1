import t from 'tap'
import { endOfScan, findMarker } from '../src/formats/jpeg-markers.ts'

/** Returns what `findMarker` should return, but reads one byte at a time. */
function slowly(bytes: Buffer, { from, inScan }: { from: number; inScan: boolean }): number {
  for (let at = from; at + 1 < bytes.length; at++) {
    const second = bytes[at + 1]!
    const isRestart = second >= 0xd0 && second <= 0xd7
    const isMarker = inScan ? second >= 0xc0 && !isRestart : second > 0
    if (bytes[at] === 0xff && isMarker && second < 0xff) return at
  }
  return bytes.length
}

/** The bytes on both sides of each boundary between two meanings, such as 0xbf and 0xc0. */
const kinds = [0x00, 0x01, 0x7f, 0x80, 0xbf, 0xc0, 0xcf, 0xd0, 0xd7, 0xd8, 0xfe, 0xff]
const pairs = kinds.flatMap((first) => kinds.map((second) => (first << 8) | second))
/** All pairs that begin or end with 0xff. */
const withFf = Array.from({ length: 0x100 }, (_, byte) => [0xff00 | byte, (byte << 8) | 0xff])

t.test('a marker is found wherever it is among the bytes that are read at once', async (t) => {
  let compared = 0
  for (const around of [0x00, 0xd0, 0xff]) {
    for (const pair of [...pairs, ...withFf.flat()]) {
      for (let at = 0; at < 5; at++) {
        const bytes = Buffer.alloc(9, around)
        bytes.writeUInt16BE(pair, at)
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
        for (const options of [
          { from: 0, inScan: true },
          { from: 1, inScan: false },
        ]) {
          const found = findMarker(view, { ...options, end: bytes.length })
          if (found !== slowly(bytes, options))
            throw new Error(`${bytes.toString('hex')}: ${found}`)
          compared++
        }
      }
    }
  }
  t.equal(compared, 3 * (144 + 512) * 5 * 2)
})

t.test('the end of a scan is found wherever the searches change', (t) => {
  for (const unit of ['00', 'ff00', 'ff000000', `ff${'00'.repeat(99)}`]) {
    const scan = Buffer.alloc(40_000, unit, 'hex')
    const view = new DataView(scan.buffer, scan.byteOffset, scan.length)
    for (let at = 0; at < scan.length - 1; at += at % 512 < 8 || at % 512 > 500 ? 1 : 4) {
      const before = scan.readUInt16BE(at)
      scan.writeUInt16BE(0xfffe, at)
      const found = endOfScan(scan, view, 0)
      if (found !== at) throw new Error(`${unit}: ${found} instead of ${at}`)
      scan.writeUInt16BE(before, at)
    }
    scan[scan.length - 1] = 0xff
    t.equal(endOfScan(scan, view, 0), scan.length)
  }
  t.end()
})
