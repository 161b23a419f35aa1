/**
 * The clock may go back by this many milliseconds without effect on the times in new ids. If it
 * goes back by more, someone has set it, and new ids contain the earlier time.
 */
const backMsMax = 2000
/** Of so many ids the milliseconds have different fractions, which a number can still represent. */
const idsPerMs = 2048

/**
 * Creates a function that makes UUIDv7 in ascending order. They ascend even within a millisecond,
 * because the bits after the version are the fraction of the millisecond.
 *
 * @param random fills its argument with random numbers
 */
export const createUuids = (random: (words: Uint16Array) => void): ((timeMs: number) => string) => {
  const words = new Uint16Array(5)
  let last = 0

  return (timeMs) => {
    random(words)
    last = timeMs > last || timeMs < last - backMsMax ? timeMs : last + 1 / idsPerMs
    words[0] = ((last * idsPerMs) & (idsPerMs - 1)) | 0x7000
    words[1] = (words[1]! & 0x3fff) | 0x8000
    const [fraction, variant, ...node] = Array.from(words, (word) =>
      (word + 0x10000).toString(16).slice(1),
    )
    return [printTime(last), fraction, variant, node.join('')].join('-')
  }
}

/** @returns the time inside a UUIDv7, in milliseconds since 1970 */
export const timeOfUuid = (id: string): number => parseInt(id.replace('-', ''), 16)

/** Returns the same UUIDv7 with its time shifted by `ms`. */
export const shiftUuid = (id: string, ms: number): string =>
  printTime(timeOfUuid(id) + ms) + id.slice(13)

/** Prints a time as the first 48 bits of a UUIDv7, with its first hyphen. */
const printTime = (timeMs: number): string =>
  Math.floor(Math.max(timeMs, 0)).toString(16).padStart(12, '0').replace(/.{8}/, '$&-')
