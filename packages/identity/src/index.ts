export { clientIdKey, headerKey } from './client-key.ts'
export { defineFindReservation, type FindReservation } from './find-reservation.ts'
export {
  createIdentity,
  derivedTail,
  deriveIdentity,
  isoTime,
  isUuidV7,
  parseIdentity,
  type Identity,
} from './identity.ts'
export {
  fieldOf,
  hashKey,
  kindOfScope,
  parseReserved,
  printReserved,
  type ClientKey,
  type KeyScope,
  type Reserved,
} from './reservation.ts'
export {
  bucketFieldsMax,
  bucketsOf,
  levelsMax,
  reservationTags,
  type Buckets,
  type Day,
} from './reservation-buckets.ts'
export {
  defineReserve,
  type Reserve,
  type ReserveCall,
  type ReserveReply,
} from './reserve-script.ts'
