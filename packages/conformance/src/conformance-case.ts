import type { Capability } from './adapter.ts'
import type { Trial } from './trial.ts'

/** Something that a sender does or does not do. It is judged by what the server saw and stored. */
export interface ConformanceCase {
  /** A sentence whose subject is the sender. */
  title: string
  /** Without one of these the case is not applicable. */
  needs?: readonly Capability[]
  /** @throws {Failed} what was seen instead */
  run(trial: Trial): Promise<void>
}
