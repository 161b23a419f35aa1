import type { Sender } from '@intake/contract'

/**
 * Replaces lone surrogates in the identifiers by U+FFFD, as their row has it: authorization,
 * idempotency and suppression then judge what is stored. Almost no identifier has one, and to look
 * is a few nanoseconds.
 */
export function makeWellFormed(sender: Sender): void {
  if (!sender.bundle_identifier.isWellFormed()) {
    sender.bundle_identifier = sender.bundle_identifier.toWellFormed()
  }
  if (!sender.unique_user_id.isWellFormed()) {
    sender.unique_user_id = sender.unique_user_id.toWellFormed()
  }
}
