import type { Clock } from './clock.ts'
import type { Drops } from './drops.ts'
import type { IntakeOptions } from './options.ts'
import type { Ports, Storage } from './ports.ts'
import type { Sender } from './segment.ts'

/** What all parts of one client share. */
export interface Core {
  options: IntakeOptions
  ports: Ports<never>
  /** That of the ports, with a fallback. */
  storage: Storage
  clock: Clock
  drops: Drops
  /** The name of this run of the client. */
  run: string
  newId: () => string
  /**
   * What a record of now says of its sender.
   *
   * @param user empty: nobody; then the UUID of the device stands for the user
   * @param isOfFeedback with all properties of the device, not only those that log events carry
   */
  senderOf(user: string, isOfFeedback: boolean): Sender
}
