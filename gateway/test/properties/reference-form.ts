/**
 * What a generous reader finds in the bytes of a form: its payload, the contents of all its parts, and those
 * that are files and not empty, in their order. It is right for forms that are accepted.
 */
export function readParts(body: Buffer): { payload: string; contents: Buffer[]; files: Buffer[] } {
  // Each character is a byte.
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
    // A fault may have hit the quotes, which parsers read in their own ways.
    if (/name[="; ]*payload/i.test(header)) payload = content.toString()
    else if (/filename|content-type: ?image\//i.test(header) && content.length > 0) {
      files.push(content)
    }
  }
  return { payload, contents, files }
}
