/**
 * A lenient reference parser for forms. Returns the payload, the contents of all parts, and the
 * contents of the non-empty files, in their order. The result is correct only for forms that the
 * gateway accepts.
 */
export function readParts(body: Buffer): { payload: string; contents: Buffer[]; files: Buffer[] } {
  // In `latin1` each character is one byte.
  const bytes = `\r\n${body.toString('latin1')}`
  const contents: Buffer[] = []
  const files: Buffer[] = []
  let payload = ''
  for (const part of bytes.split('\r\n--b').slice(1)) {
    if (part.startsWith('--')) break
    const end = part.indexOf('\r\n\r\n')
    const header = part.slice(0, end)
    const content = Buffer.from(part.slice(end + 4), 'latin1')
    contents.push(content)
    // The patterns do not require quotes, because a random fault may have damaged them. Parsers
    // differ in how they read damaged quotes.
    if (/name[="; ]*payload/i.test(header)) payload = content.toString()
    else if (/filename|content-type: ?image\//i.test(header) && content.length > 0) {
      files.push(content)
    }
  }
  return { payload, contents, files }
}
