import { hash, randomUUID } from 'node:crypto'

/** Who a record is and when it came. Fixed before the record is acknowledged, never changed after. */
export interface Identity {
  /** UUIDv7. */
  id: string
  /** The time inside the id, ISO 8601 in UTC with milliseconds. */
  receivedAt: string
}

/** The random bits are those of a UUIDv4, whose layout differs only in the time and the version. */
export function createIdentity(): Identity {
  const { digits, iso } = timeAt(Date.now())
  return { id: `${digits}-7${randomUUID().slice(15)}`, receivedAt: iso }
}

/**
 * The identity of one of several records that came in one request: the same for the same request
 * and place, and with the same time.
 */
export function partOf(request: Identity, index: number): Identity {
  const random = hash('sha256', `${request.id} ${index}`)
  const variant = '89ab'[Number.parseInt(random.slice(3, 4), 16) % 4]
  const id =
    `${request.id.slice(0, 15)}${random.slice(0, 3)}-` +
    `${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
  return { id, receivedAt: request.receivedAt }
}

/** @param id UUIDv7 */
export function identityOf(id: string): Identity {
  const milliseconds = Number.parseInt(id.slice(0, 13).replace('-', ''), 16)
  return { id, receivedAt: timeAt(milliseconds).iso }
}

/** As it was last printed: most identities come in the same millisecond as another. */
let lastTime = printTime(0)

function timeAt(milliseconds: number): typeof lastTime {
  if (milliseconds !== lastTime.milliseconds) lastTime = printTime(milliseconds)
  return lastTime
}

/** @returns `digits`: the first 48 bits of a UUID, with its first hyphen */
function printTime(milliseconds: number) {
  const hex = milliseconds.toString(16).padStart(12, '0')
  const digits = `${hex.slice(0, 8)}-${hex.slice(8)}`
  return { milliseconds, digits, iso: new Date(milliseconds).toISOString() }
}
