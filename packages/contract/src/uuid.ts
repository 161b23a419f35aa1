/** A UUID of any version, in either case; for schemas. */
export const uuidPattern =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

const uuid = new RegExp(uuidPattern)

/** Whether a text is a UUID of any version, in either case. */
export function isUuid(text: string): boolean {
  return uuid.test(text)
}

/** @returns the time inside a UUIDv7, in milliseconds since 1970 */
export function timeOfUuidV7(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
