import { randomUUID } from 'node:crypto'
import { uuidv7 } from 'uuidv7'

/** The ids that clients assign: a UUIDv7 becomes the record's id, a UUIDv4 is a key to reserve. */
export type ClientIds = 'uuidv7' | 'uuidv4'

const create: Record<ClientIds, () => string> = { uuidv7, uuidv4: () => randomUUID() }

/** Placeholder for an id in a prepared request. */
export const idPlaceholder = '00000000-0000-4000-8000-62656e636821'

/**
 * Fills in fresh ids. Each call makes a copy, because the bytes of an earlier request may still be in
 * flight.
 */
export function freshIds(prepared: readonly Buffer[], ids: ClientIds): (index: number) => Buffer {
  const templates = prepared.map((bytes) => ({ bytes, places: placesOf(bytes) }))
  return (index) => {
    const { bytes, places } = templates[index % templates.length] as (typeof templates)[number]
    const request = Buffer.from(bytes)
    for (const place of places) request.write(create[ids](), place, 'latin1')
    return request
  }
}

function placesOf(bytes: Buffer): number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(idPlaceholder); at !== -1;) {
    places.push(at)
    at = bytes.indexOf(idPlaceholder, at + idPlaceholder.length)
  }
  return places
}
