/**
 * A parsed message of Protocol Buffers. It maps the number of each field to the field's values, in
 * their order.
 */
export type Message = ReadonlyMap<number, readonly (bigint | Buffer)[]>

/**
 * Parses a message.
 *
 * @throws {RangeError} when the bytes end too early or contain a group
 */
export function readMessage(bytes: Buffer): Message {
  const fields = new Map<number, (bigint | Buffer)[]>()
  let at = 0

  function varint(): bigint {
    let number = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      number |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return number
    }
  }
  function take(length: number): Buffer {
    at += length
    if (at > bytes.length) throw new RangeError('the message ends too early')
    return bytes.subarray(at - length, at)
  }
  function value(wireType: number): bigint | Buffer {
    switch (wireType) {
      case 0:
        return varint()
      case 1:
        return take(8).readBigUInt64LE()
      case 2:
        return take(Number(varint()))
      case 5:
        return BigInt(take(4).readUInt32LE())
      default:
        throw new RangeError(`wire type ${wireType}`)
    }
  }

  while (at < bytes.length) {
    const tag = Number(varint())
    const values = fields.get(tag >> 3) ?? []
    values.push(value(tag & 7))
    fields.set(tag >> 3, values)
  }
  return fields
}

export function messagesOf(message: Message, field: number): Message[] {
  return buffersOf(message, field).map(readMessage)
}

export function buffersOf(message: Message, field: number): Buffer[] {
  return (message.get(field) ?? []).filter((value) => Buffer.isBuffer(value))
}

/** The last value of a field; undefined if the field is not set or this value is no integer. */
export function integerOf(message: Message, field: number): bigint | undefined {
  const value = message.get(field)?.at(-1)
  return typeof value === 'bigint' ? value : undefined
}
