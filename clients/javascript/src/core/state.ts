import { correctedNow, type Clock } from './clock.ts'
import type { DroppedName } from './dropped-names.ts'
import type { WaitingFeedback } from './feedbacks.ts'
import type { IntakeOptions, SendError } from './options.ts'
import type { Ports, Storage } from './ports.ts'
import type { Segment } from './segment.ts'
import type { SendLoop } from './sent.ts'
import type { Serial } from './serial.ts'

/** The state of a client, on which the functions of this folder work. */
export interface State extends Ports<never>, Clock {
  options: IntakeOptions
  /** The platform's storage, with a fallback to memory. */
  records: Storage
  /** The name of this run. Each created client is a run of its own. */
  run: string
  /** Makes a UUIDv7 of this time. */
  nextId(ms: number): string
  /**
   * The UUID of the device; undefined until the client has started. Until the storage can be read, it
   * is one that this run has made.
   */
  uuid?: string
  /** The UUID that is stored with records; undefined until it is known for good. */
  keptUuid?: string | undefined
  user: string
  /** The known properties of the device; undefined until they were read. */
  known?: Record<string, unknown>
  /** The properties of the device that the server has refused: JSON leaves them out. */
  refused: Record<string, undefined>
  /** Resolves when `uuid` is known. */
  starting?: Promise<void>
  /** Whether it is known what earlier runs have stored. */
  isLoaded?: boolean
  /** Whether the user has opted out. */
  isOut?: boolean | undefined
  /** Whether the client has ended. */
  isShut?: boolean
  /** Whether the last call was `optOut`; undefined if the app has called neither. */
  wantsOut?: boolean
  /** Runs `optOut` and `optIn` one after the other. */
  consent: Serial

  /** The waiting log events, oldest first. */
  segments: Segment[]
  /** Runs the changes of stored segments one after the other. */
  inOrder: Serial
  /** The next sequence number; falsy if the storage gave no numbers to the last events. */
  nextSequence?: number
  /** The waiting feedback. */
  feedbacks: WaitingFeedback[]
  droppedNames: Map<string, DroppedName>
  /** The number of records dropped since the client started, by reason. */
  allDropped: Record<string, number>
  /** The number of dropped records that no `intake.dropped` event has reported yet, by reason. */
  unreported: Record<string, number>
  /** Whether `unreported` has changed since it was stored. */
  areDropsNew?: boolean

  /** The loops that send log events and feedback. */
  loops: SendLoop[]
  lastFailure?: SendError
  /** Why nothing more is sent before the next start. */
  stopReason?: string | undefined
  /** Whether the open segments must be sent as soon as no closed segment waits. */
  isDue?: boolean
  /** The number of refusals in a row. */
  refusals: number
  /**
   * The functions that resolve the waiting calls of `flush`. They are called when nothing more can
   * be sent now.
   */
  waiting: (() => void)[]
  flushTimer?: unknown
  writeTimer?: unknown
}

/** Makes a UUIDv7 of now. */
export const newId = (client: State): string => client.nextId(correctedNow(client))
