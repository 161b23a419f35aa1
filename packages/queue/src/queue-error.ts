import { IntakeError } from '@intake/contract'
import { isOutOfMemory } from '@intake/redis'

/** Creates the error for a client when Redis has certainly not stored its record. */
export function queueError(cause: unknown): IntakeError {
  return isOutOfMemory(cause)
    ? new IntakeError('queue_full', 'The queue has no memory left.', { cause })
    : new IntakeError('queue_unavailable', 'The queue cannot be reached.', { cause })
}
