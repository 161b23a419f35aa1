const name = '"device_uuid"'
/** More than a UUID in quotes, with a colon and the usual space before it. */
const bytesMax = 64

/**
 * Returns the first `device_uuid` in the text of a request, without parsing it: that of the sender,
 * unless the sender hides it. Returns undefined if none is found.
 */
export function findDevice(json: Buffer): string | undefined {
  const at = json.indexOf(name)
  if (at < 0) return undefined
  const from = at + name.length
  return /^\s*:\s*"([\da-f-]{36})"/i.exec(json.toString('latin1', from, from + bytesMax))?.[1]
}
