import type { Capability } from './adapter.ts'
import type { Trial } from './trial.ts'

/** Something that a sender must do or must not do, judged by what the server saw and stored. */
export interface ConformanceCase {
  /** What the sender must do, without a subject: for example, `keeps the id over a retry`. */
  title: string
  /** The capabilities that the case needs. If the sender lacks one, the case is not applicable. */
  needs?: readonly Capability[]
  /**
   * Runs the case.
   *
   * @throws {Failed} if the sender fails the case; the message says what the suite saw
   */
  run(trial: Trial): Promise<void>
}
