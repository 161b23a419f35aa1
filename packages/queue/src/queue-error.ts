import { IntakeError } from '@intake/contract'
import { isOutOfMemory } from '@intake/redis'

/** What a client is told when Redis has certainly not taken its record. */
export function queueError(cause: unknown): IntakeError {
  return isOutOfMemory(cause)
    ? new IntakeError('queue_full', 'The queue has no memory left.', { cause })
    : new IntakeError('queue_unavailable', 'The queue cannot be reached.', { cause })
}
