/** The result of one request. */
export interface Sent {
  /**
   * Set if the records have no final result: the pause that the server asked for or, if it is 0, a
   * pause that the loop chooses. If it is not set, the next request follows at once.
   */
  retryAfterMs?: number
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
