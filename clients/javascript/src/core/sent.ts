/**
 * The result of one request. If neither `retryAfterMs` nor `stop` is set, the next request follows
 * at once.
 * - `isAccepted`: the server accepted at least one of the records.
 * - `retryAfterMs`: the records have no final result. Pause for this time or, if it is 0, for a
 * time that the loop chooses.
 * - `stop`: the reason why nothing more may be sent.
 */
export interface Sent {
  isAccepted?: boolean
  retryAfterMs?: number | undefined
  stop?: string
}

export interface SendLoop {
  /**
   * Sends until no record waits, as soon as the client has started.
   *
   * @param isUrgent if true, sends even during a pause after a failure, but not during a pause that
   *   the server asked for
   */
  wake(isUrgent?: boolean): void
  /**
   * A promise that resolves when the loop next ends or pauses; undefined if nothing is being sent.
   */
  sending(): Promise<void> | undefined
  /** Whether the server has asked the client to wait, and that time has not passed yet. */
  isHeld(): boolean
}
