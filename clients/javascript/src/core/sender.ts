import { deviceMsMax, identifierMax } from './limits.ts'
import type { Sender } from './segment.ts'
import type { State } from './state.ts'
import { within } from './within.ts'

/** A user or an e-mail as text; empty if it is invalid. Apps without TypeScript may pass a number. */
export const shortText = (value: unknown): string =>
  /string|number/.test(typeof value) ? String(value).slice(0, identifierMax) : ''

/**
 * Reads the properties of the device, except those without a known value: null, an empty text,
 * `unknown`, and what JSON cannot represent. An absent property is better than a wrong one.
 */
export const readDevice = async (client: State): Promise<void> => {
  // If the device cannot be read in time, the properties that were found before are used.
  const found = (await within(client, deviceMsMax, client.device())) || client.known
  const device: Record<string, unknown> = {}
  for (const fields of [found, client.options.device].map(Object)) {
    for (const name of Object.keys(fields)) {
      try {
        const text = JSON.stringify(fields[name])
        if (!/^(null|""|"unknown")$/.test(text)) device[name] = JSON.parse(text)
      } catch {
        // JSON cannot represent a function, undefined, or a value that refers to itself.
      }
    }
  }
  client.known = device
}

/**
 * The fields that describe the sender of a record that is made now.
 *
 * @param user if empty, the UUID of the device is sent as the user
 * @param isOfFeedback whether the record is feedback, which has all properties of the device; a log
 *   event has fewer
 */
export const senderOf = (
  { options, logDevice, known, keptUuid }: State,
  user: string,
  isOfFeedback?: boolean,
): Sender => {
  const sender: Sender = { bundle_identifier: options.bundleIdentifier }
  if (known) sender.device = logDevice && !isOfFeedback ? logDevice(known) : known
  if (keptUuid) sender.device_uuid = sender.unique_user_id = keptUuid
  if (user) sender.unique_user_id = user
  return sender
}
