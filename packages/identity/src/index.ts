export * from './client-key.ts'
export * from './find-reservation.ts'
export {
  createIdempotencyStore,
  type IdempotencyStore,
  type Reservation,
} from './idempotency-store.ts'
export * from './identity.ts'
export * from './reservation.ts'
export * from './reservation-buckets.ts'
export {
  createReservationLedger,
  reservationBytes,
  type ReservationLedger,
} from './reservation-ledger.ts'
export * from './reserve-script.ts'
