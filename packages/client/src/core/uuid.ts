const hex: string[] = []
for (let byte = 0; byte < 256; byte++) hex.push((byte + 256).toString(16).slice(1))

/** A clock that went back further than this was set; ids follow it. */
const backMsMax = 2000
const counterMax = 0xfff

/**
 * Makes UUIDv7 that ascend, also within a millisecond: the twelve bits after the version count up.
 *
 * @param random fills it with random bytes
 */
export function createUuids(random: (bytes: Uint8Array) => void): (timeMs: number) => string {
  const pool = new Uint8Array(256)
  let used = pool.length
  let last = 0
  let counter = 0
  let prefix = ''

  function take(): number {
    if (used === pool.length) {
      random(pool)
      used = 0
    }
    return pool[used++]!
  }

  return (timeMs) => {
    if (timeMs > last || timeMs < last - backMsMax) {
      last = timeMs
      // Half of the range is left to count.
      counter = ((take() << 8) | take()) & (counterMax >> 1)
      prefix = printTime(last)
    } else if (counter++ === counterMax) {
      counter = 0
      prefix = printTime(++last)
    }
    let id = `${prefix}-7${(counter + 0x1000).toString(16).slice(1)}-${hex[(take() & 0x3f) | 0x80]!}${hex[take()]!}-`
    for (let byte = 0; byte < 6; byte++) id += hex[take()]!
    return id
  }
}

/** @returns the time inside a UUIDv7, in milliseconds since 1970 */
export const timeOfUuid = (id: string): number => parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** The same UUIDv7 at another time. */
export const shiftUuid = (id: string, ms: number): string =>
  printTime(timeOfUuid(id) + ms) + id.slice(13)

/** The first 48 bits of a UUIDv7. */
function printTime(timeMs: number): string {
  const digits = Math.floor(Math.max(timeMs, 0)).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}
