/**
 * The clock may go back by this many milliseconds without effect on the times in new ids. If it
 * goes back by more, someone has set it, and new ids contain the earlier time.
 */
const backMsMax = 2000
const counterMax = 0xfff

/**
 * Creates a function that makes UUIDv7 in ascending order. They ascend even within a millisecond,
 * because the twelve bits after the version are a counter.
 *
 * @param random fills its argument with random bytes
 */
export function createUuids(random: (bytes: Uint8Array) => void): (timeMs: number) => string {
  const bytes = new Uint8Array(8)
  let last = 0
  let counter = 0

  return (timeMs) => {
    random(bytes)
    if (timeMs > last || timeMs < last - backMsMax) {
      last = timeMs
      counter = 0
    } else if (counter++ === counterMax) {
      counter = 0
      last++
    }
    bytes[0] = (bytes[0]! & 0x3f) | 0x80
    const digits = Array.from(bytes, (byte) => (byte + 256).toString(16).slice(1)).join('')
    return `${printTime(last)}-${(0x7000 + counter).toString(16)}-${digits.slice(0, 4)}-${digits.slice(4)}`
  }
}

/** @returns the time inside a UUIDv7, in milliseconds since 1970 */
export const timeOfUuid = (id: string): number => parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** Returns the same UUIDv7 with its time shifted by `ms`. */
export const shiftUuid = (id: string, ms: number): string =>
  printTime(timeOfUuid(id) + ms) + id.slice(13)

/** Prints a time as the first 48 bits of a UUIDv7, with its first hyphen. */
function printTime(timeMs: number): string {
  const digits = Math.floor(Math.max(timeMs, 0)).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}
