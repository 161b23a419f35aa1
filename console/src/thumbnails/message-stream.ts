import type { Writable } from 'node:stream'

/** What console and decoder send to each other: a small object, and bytes. */
export interface Message {
  head: unknown
  body: Buffer
}

const headBytesMax = 64 * 1024
const lengthsBytes = 8

/** Writes a message: the lengths of both parts, the head as JSON, the body. */
export function writeMessage(stream: Writable, { head, body }: Message): void {
  const json = Buffer.from(JSON.stringify(head))
  const lengths = Buffer.alloc(lengthsBytes)
  lengths.writeUInt32BE(json.length, 0)
  lengths.writeUInt32BE(body.length, 4)
  stream.write(Buffer.concat([lengths, json]))
  stream.write(body)
}

/**
 * Reads messages until the stream ends.
 *
 * @param bytesMax the maximum size of a body; a larger one is an error
 */
export async function* readMessages(
  stream: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Message> {
  let chunks: Buffer[] = []
  let bytes = 0
  let needed = lengthsBytes
  for await (const chunk of stream) {
    chunks.push(chunk)
    bytes += chunk.length
    while (bytes >= needed) {
      const all = Buffer.concat(chunks)
      const bodyAt = lengthsBytes + all.readUInt32BE(0)
      const end = bodyAt + all.readUInt32BE(4)
      if (bodyAt > lengthsBytes + headBytesMax || end > bodyAt + bytesMax) {
        throw new Error('a message is too large')
      }
      chunks = [all]
      needed = end
      if (bytes < end) continue
      const head: unknown = JSON.parse(all.toString('utf8', lengthsBytes, bodyAt))
      yield { head, body: all.subarray(bodyAt, end) }
      chunks = [all.subarray(end)]
      bytes -= end
      needed = lengthsBytes
    }
  }
}
