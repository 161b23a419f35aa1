import { createClock, type Clock } from './clock.ts'
import { createDroppedNames, type DroppedNames } from './dropped-names.ts'
import { createDrops, type Drops } from './drops.ts'
import { deviceMsMax, identifierMax } from './limits.ts'
import type { IntakeOptions, SendError } from './options.ts'
import type { Ports, Storage } from './ports.ts'
import type { Sender } from './segment.ts'
import { createUuids } from './uuid.ts'
import { withFallback } from './with-fallback.ts'
import { within } from './within.ts'

/** What all parts of a client share, and its state. */
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
  /** Makes a UUIDv7 of this time; default: now. */
  newId(ms?: number): string
  /**
   * The UUID of the device; empty until the client has started. Until the storage can be read, it
   * is one that this run has made.
   */
  uuid: string
  /** The UUID that is stored with records; empty until it is known for good. */
  deviceUuid: string
  user: string
  /** Whether it is known what earlier runs have stored. */
  isLoaded?: boolean
  /** Whether the user has opted out. */
  isOut?: boolean
  /** Whether the client has ended. */
  isShut?: boolean
  /**
   * Reads what earlier runs have stored; only the first call does so. Resolves when `uuid` is
   * known, at the latest after `startMsMax`. Nothing is sent before.
   */
  start(): Promise<void>
  lastError?: SendError
  refused: string[]
  readDevice(): Promise<void>
  /**
   * The fields that describe the sender of a record that is made now.
   *
   * @param user if empty, the UUID of the device is sent as the user
   * @param isOfFeedback whether the record is feedback, which has all properties of the device; a
   * log event has fewer
   */
  senderOf(user: string, isOfFeedback: boolean): Sender
}

/** Creates the state of a client; the caller sets `start`. */
export function createCore(options: IntakeOptions, ports: Ports<never>): Core {
  const { time } = ports
  const clock = createClock(time)
  const nextId = createUuids(ports.random)
  const newId = (ms = clock.now()) => nextId(ms)
  let device: Record<string, unknown> | undefined
  let found: unknown
  const core: Omit<Core, 'start'> = {
    options,
    ports,
    storage: withFallback(ports.storage),
    clock,
    drops: createDrops(time, options.onDrop),
    droppedNames: createDroppedNames(clock),
    run: newId() + ports.runSuffix,
    newId,
    uuid: '',
    deviceUuid: options.deviceUuid || '',
    user: validUser(options.userId),
    refused: [],
    async readDevice() {
      // If the device cannot be read in time, the properties that were found before are used.
      found = (await within(ports, deviceMsMax, ports.device())) || found
      device = addKnown(addKnown({}, found), options.device)
    },
    senderOf(user, isOfFeedback) {
      const sender: Sender = { bundle_identifier: options.bundleIdentifier }
      const { deviceUuid } = core
      if (device)
        sender.device = ports.logDevice && !isOfFeedback ? ports.logDevice(device) : device
      if (deviceUuid) sender.device_uuid = sender.unique_user_id = deviceUuid
      if (user) sender.unique_user_id = user
      return sender
    },
  }
  return core as Core
}

/** The user id as text; empty if it is invalid. Apps without TypeScript may pass a number. */
export const validUser = (userId: unknown): string =>
  /string|number/.test(typeof userId) ? String(userId).slice(0, identifierMax) : ''

/**
 * Adds the properties of `more` to `device`, except those without a known value: null, an empty
 * text, `unknown`, and what JSON cannot represent. An absent property is better than a wrong one.
 */
function addKnown(device: Record<string, unknown>, more: unknown): Record<string, unknown> {
  const fields = Object(more) as Record<string, unknown>
  for (const name of Object.keys(fields)) {
    try {
      const text = JSON.stringify(fields[name])
      if (!/^(null|""|"unknown")$/.test(text)) device[name] = JSON.parse(text)
    } catch {
      // JSON cannot represent a function, undefined, or a value that refers to itself.
    }
  }
  return device
}
