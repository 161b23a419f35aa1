import { hash } from 'node:crypto'
import { uuidv7 } from 'uuidv7'

/** Who a record is and when it came. Fixed before the record is acknowledged, never changed after. */
export interface Identity {
  /** UUIDv7. */
  id: string
  /** The time inside the id, ISO 8601 in UTC with milliseconds. */
  receivedAt: string
}

export function createIdentity(): Identity {
  return identityOf(uuidv7())
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

/** The time of the last identity: most come in the same millisecond as another. */
let lastTime = { digits: '', iso: '' }

export function identityOf(id: string): Identity {
  const digits = id.slice(0, 13)
  if (digits !== lastTime.digits) {
    const milliseconds = Number.parseInt(digits.replace('-', ''), 16)
    lastTime = { digits, iso: new Date(milliseconds).toISOString() }
  }
  return { id, receivedAt: lastTime.iso }
}
