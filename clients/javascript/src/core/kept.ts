import { newId, type State } from './state.ts'
import { addCounts } from './drops.ts'
import { parseName, type ParsedName } from './entry-name.ts'
import { adoptFeedback, isFeedback } from './feedbacks.ts'
import { readAgainMs, startMsMax } from './limits.ts'
import { adopt } from './log-queue.ts'
import { readDevice } from './sender.ts'
import { wake } from './sending.ts'
import { remove } from './stored-segments.ts'
import { deviceKey, droppedKey, optOutKey } from './value-keys.ts'
import { within } from './within.ts'

const uuidForm = /^[\da-f]{8}(-[\da-f]{4}){4}[\da-f]{8}$/i

/** Whether the value is a UUID, in upper or lower case. */
export const isUuid = (value: unknown): boolean => uuidForm.test(value as string)

/**
 * Reads what earlier runs have kept on the device; only the first call does so. Resolves when
 * `uuid` is known, at the latest after `startMsMax`. Nothing is sent before.
 */
export const start = (client: State): Promise<void> =>
  client.starting || (client.starting = readKept(client))

const readKept = async (client: State): Promise<void> => {
  await within(client, startMsMax, load(client), true)
  client.uuid = client.uuid || client.keptUuid || newId(client)
}

const load = async (client: State): Promise<void> => {
  const reading = readDevice(client)
  const [kept, optedOut, dropped, names = []] = await read(client)
  await reading
  if (client.isShut) return
  if (!client.keptUuid) {
    const uuid = client.uuid || newId(client)
    let found = kept
    if (!isUuid(found)) {
      // Of several tabs that start at the same time, one stores the UUID of all.
      await client.records.set(deviceKey, uuid, !found)
      ;[found] = await read(client)
    }
    client.keptUuid = isUuid(found) ? (found as string) : uuid
  }
  client.uuid = client.keptUuid
  client.isLoaded = true
  addCounts(client.unreported, (dropped || {}) as Record<string, number>)
  if (optedOut && client.wantsOut !== false) client.isOut = true
  if (client.isOut) await removeAll(client)
  else {
    const ofEndedRuns = names
      .sort()
      .map(parseName)
      .filter((entry) => entry && entry.run !== client.run)
    adoptFeedback(client, names)
    await adopt(client, ofEndedRuns as ParsedName[])
  }
  wake(client)
}

type Kept = [device?: unknown, isOptedOut?: unknown, dropped?: unknown, names?: string[]]

/**
 * Makes all reads at the same time, because a page can end within milliseconds. If one fails, all
 * are repeated until they succeed, because only a successful read says that something is absent. A
 * storage that the browser forbids to the page is empty.
 */
const read = (client: State): Promise<Kept> => {
  const { records } = client
  return Promise.all([
    records.get(deviceKey),
    records.get(optOutKey),
    records.get(droppedKey),
    records.list(),
  ]).catch((error): Kept | Promise<Kept> =>
    error && (error as Error).name === 'SecurityError'
      ? []
      : new Promise((resolve) => {
          if (!client.isShut) client.setTimeout(() => resolve(read(client)), readAgainMs, true)
        }),
  )
}

const removeAll = async (client: State): Promise<void> => {
  for (const segment of client.segments) void remove(client, segment)
  client.feedbacks = []
  for (const name of await client.records.list().catch((): string[] => [])) {
    if (parseName(name) || isFeedback(name)) await client.records.remove(name)
  }
}

/** See `Intake.optOut` and `Intake.optIn`. If both are called, the later call takes effect. */
export const setConsent = (client: State, wantsOut: boolean): Promise<void> => {
  client.wantsOut = wantsOut
  if (wantsOut) client.isOut = true
  return client.consent(async () => {
    await start(client)
    if (wantsOut) {
      await client.records.set(optOutKey, true)
      await removeAll(client)
    } else await client.records.remove(optOutKey)
    client.isOut = client.wantsOut
    wake(client)
  })
}
