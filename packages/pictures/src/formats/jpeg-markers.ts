export const markers = {
  startOfImage: 0xd8,
  endOfImage: 0xd9,
  startOfScan: 0xda,
  app0: 0xe0,
  app1: 0xe1,
  app2: 0xe2,
  app14: 0xee,
} as const

/** Whether it is SOF0 to SOF15. DHT, JPG and DAC have numbers between them, but begin no frame. */
export function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7

/** Whether the marker has no length and no data. */
export const isAlone = (marker: number) =>
  isRestart(marker) ||
  marker === 0x01 ||
  marker === markers.startOfImage ||
  marker === markers.endOfImage

/** Creates a view of a buffer's bytes. It reads numbers faster than the buffer does. */
export const viewOf = (bytes: Buffer) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

/** How many bytes `endOfScan` reads with `findMarker` before it tries `indexOf`. */
const readBytes = { min: 512, max: 16_384 }
/** `indexOf` is called again at once only if it has passed over more bytes than this. */
const searchedBytes = 64
/** After fewer bytes, `findMarker` next reads twice as many as before. */
const fewBytes = 16

/**
 * Returns the position at which the data of a scan ends: the next marker that may follow a scan.
 * Where 0xff is rare it uses `indexOf`, which is several times as fast there as `findMarker`.
 */
export function endOfScan(bytes: Buffer, view: DataView, from: number): number {
  const end = bytes.length
  let toRead = readBytes.min
  for (let at = from; ;) {
    const to = Math.min(at + toRead, end)
    const marker = findMarker(view, { from: at, end: to, inScan: true })
    if (marker < to || to === end) return marker
    let before
    at = to - 1
    do {
      before = at
      at = bytes.indexOf(0xff, at) + 1
      if (at === 0 || at === end) return end
      if (secondAfterScan[bytes[at] as number] === 1) return at - 1
    } while (at - before > searchedBytes)
    toRead = at - to < fewBytes ? Math.min(toRead * 2, readBytes.max) : readBytes.min
  }
}

/** For each byte, 1 if it can be the second byte of a marker. */
const secondOfAny = Uint8Array.from({ length: 256 }, (_, byte) => +(byte > 0 && byte < 0xff))
/** For each byte, 1 if it can end a scan. Reserved markers result only from damage: data. */
const secondAfterScan = secondOfAny.map(
  (is, byte) => +(is === 1 && byte >= 0xc0 && !isRestart(byte)),
)
/** The highest bit of each of four bytes, and the other bits. */
const highest = 0x80808080 | 0
const lower = 0x7f7f7f7f

/**
 * Returns the position of the next marker; `end` if there is none. It reads four bytes at once. In
 * the loop, only the branch that ends the loop depends on the bytes. With another such branch, a
 * file could be made for which the processor always predicts the wrong branch.
 *
 * @param range.inScan whether to pass over the markers that may occur in the data of a scan
 */
export function findMarker(
  bytes: DataView,
  { from, end, inScan }: { from: number; end: number; inScan: boolean },
): number {
  const seconds = inScan ? secondAfterScan : secondOfAny
  const outside = inScan ? 0 : highest
  let at = from
  // Each number below consists of four bytes. The highest bit of a byte is the result for one byte
  // of the file. No addition carries over into the next byte.
  for (let before = 0; at + 4 <= end; at += 4) {
    const four = bytes.getInt32(at, true)
    const areFF = ((four & lower) + 0x01010101) & four & highest
    const areNotZero = ((four & lower) + lower) | four
    const areAtLeastC0 = four & (four << 1)
    // Restarts are 0xd0 to 0xd7.
    const areNotRestarts = ((four & 0x3f3f3f3f) ^ 0x10101010) + 0x78787878
    const areSecond = ((areAtLeastC0 & areNotRestarts) | (areNotZero & outside)) & ~areFF
    if ((areSecond & ((areFF << 8) | before)) !== 0) break
    before = areFF >>> 24
  }
  // Searches the bytes in which the loop found a marker, or the bytes that the loop left over.
  for (at = Math.max(from, at - 1); at + 1 < end; at++) {
    if (bytes.getUint8(at) === 0xff && seconds[bytes.getUint8(at + 1)] === 1) return at
  }
  return end
}
