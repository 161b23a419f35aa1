import type { Clock } from './clock.ts'
import type { Drops } from './drops.ts'
import type { IntakeOptions } from './options.ts'
import type { Ports, Storage } from './ports.ts'

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
  /** Empty: not known yet. */
  deviceUuid(): string
  /** Properties of the device, as log events have them; undefined: not known yet. */
  device(): Record<string, unknown> | undefined
}
