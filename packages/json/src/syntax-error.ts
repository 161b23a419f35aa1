import { parseLossless } from './lossless-json.ts'

/** A document of up to this many characters is parsed again in a millisecond, whatever it is. */
const parsedAgainMax = 4 * 1024

/**
 * Says where a document stops to be JSON, such as `line 2, column 7`, with nothing of its text;
 * undefined if the place is not known, or the document is too long to look.
 */
export function describeSyntaxError(text: string): string | undefined {
  const at = text.length > parsedAgainMax ? undefined : findSyntaxError(text)
  if (at === undefined) return undefined
  const before = text.slice(0, at).split('\n')
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
  return at === text.length ? `it ends too early, at ${place}` : place
}

/** Returns the position that the lossless parser reports. V8 reports none for many errors. */
function findSyntaxError(text: string): number | undefined {
  try {
    parseLossless(text)
    return undefined
  } catch (error) {
    const position = /at position (\d+)$/.exec(String(error))?.[1]
    return position === undefined ? undefined : Number(position)
  }
}
