const minMs = 1_000
const maxMs = 60_000

/**
 * Returns the next pause in ms: one second after the first failure, then doubled, at most a minute.
 *
 * @param beforeMs the pause after the previous failure; 0 if there was none
 */
export function nextPauseMs(beforeMs: number): number {
  return Math.min(Math.max(beforeMs * 2, minMs), maxMs)
}
