import type { Core } from './core.ts'
import type { Feedbacks } from './feedbacks.ts'
import type { LogQueue } from './log-queue.ts'
import type { SendLoop } from './sent.ts'

/** The state of a client, on which the functions of this folder work. */
export interface State extends Core {
  logs: LogQueue
  feedbacks: Feedbacks
  /** The loops that send log events and feedback. */
  loops: SendLoop[]
  /** Why nothing more is sent before the next start. */
  stopped?: string | undefined
  /** Whether the open segment must be sent as soon as no closed segment waits. */
  isDue?: boolean
  /**
   * The functions that resolve the waiting calls of `flush`. They are called when nothing more can
   * be sent now.
   */
  waiting: (() => void)[]
  /** Runs `optOut` and `optIn` one after the other. */
  consent: <Result>(task: () => Promise<Result>) => Promise<Result>
  /** Whether the last call was `optOut`; undefined if the app has called neither. */
  wantsOut?: boolean
  flushTimer?: unknown
  writeTimer?: unknown
  writing?: Promise<void> | undefined
}
