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

export function identityOf(id: string): Identity {
  const milliseconds = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return { id, receivedAt: new Date(milliseconds).toISOString() }
}
