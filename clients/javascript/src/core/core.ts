import type { Clock } from './clock.ts'
import type { DroppedNames } from './dropped-names.ts'
import type { Drops } from './drops.ts'
import type { IntakeOptions, SendError } from './options.ts'
import type { Ports, Storage } from './ports.ts'
import type { Sender } from './segment.ts'

export interface Core {
  options: IntakeOptions
  ports: Ports<never>
  /** The platform's storage, with a fallback to memory. */
  storage: Storage
  clock: Clock
  drops: Drops
  droppedNames: DroppedNames
  /** The name of this run. Each created client is a run of its own. */
  run: string
  newId: () => string
  /**
   * The UUID of the device; empty until the client has started. Until the storage can be read, it
   * is one that this run has made.
   */
  uuid: string
  /**
   * Reads what earlier runs have stored; only the first call does so. Resolves when `uuid` is
   * known, at the latest after `startMsMax`. Nothing is sent before.
   */
  start(): Promise<void>
  lastError?: SendError
  refused: string[]
  /**
   * The fields that describe the sender of a record that is made now.
   *
   * @param user if empty, the UUID of the device is sent as the user
   * @param isOfFeedback whether the record is feedback, which has all properties of the device; a
   * log event has fewer
   */
  senderOf(user: string, isOfFeedback: boolean): Sender
}
