const name = '"device_uuid"'
/** More than a UUID in quotes, with a colon and the usual space before it. */
const bytesMax = 64
/** Clients name the device before the events. */
const searchedBytes = 64 * 1024

const opening = new Set(Buffer.from('{['))
const closing = new Set(Buffer.from('}]'))
const quote = 0x22
const backslash = 0x5c

/**
 * Returns the first `device_uuid` of the outermost object in the text of a request, without parsing
 * it: that of the sender, unless the sender hides it. Reads only the beginning of the text. Returns
 * undefined if none is found.
 */
export function findDevice(json: Buffer): string | undefined {
  const end = Math.min(json.length, searchedBytes)
  let depth = 0
  for (let at = 0; at < end; at++) {
    const byte = json[at]!
    if (opening.has(byte)) depth++
    else if (closing.has(byte)) depth--
    else if (byte === quote) {
      const from = at
      for (at++; at < end && json[at] !== quote; at++) if (json[at] === backslash) at++
      if (depth !== 1 || at + 1 - from !== name.length) continue
      if (json.toString('latin1', from, at + 1) !== name) continue
      const value = json.toString('latin1', at + 1, at + 1 + bytesMax)
      const member = /^\s*:\s*"([\da-f-]{36})"/i.exec(value)?.[1]
      if (member !== undefined) return member
    }
  }
  return undefined
}
