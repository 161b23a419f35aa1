import { eraOf, firstEra } from './clock.ts'
import { sendFeedback } from './feedbacks.ts'
import { isUuid, setConsent, start } from './kept.ts'
import type { FlushOptions, Intake, IntakeOptions } from './options.ts'
import type { Ports } from './ports.ts'
import { feedback, log } from './record.ts'
import { save } from './save.ts'
import { bytesOf, closeAll, countOf } from './segment-list.ts'
import { sendAtPageEnd, sendLogs } from './send-logs.ts'
import { createSendLoop } from './send-loop.ts'
import { shortText } from './sender.ts'
import { wake } from './sending.ts'
import { createSerial } from './serial.ts'
import type { State } from './state.ts'
import { createUuids } from './uuid.ts'
import { withFallback } from './with-fallback.ts'
import { within } from './within.ts'

/** The methods for the app, and those that only the platform's own modules call. */
export interface Client<Attachment> extends Intake<Attachment> {
  /**
   * Sends at once, because the network is available again or the app is in the foreground again.
   */
  wake(): void
  /** Prepares for the end of the page: sends what fits into one request, and stores the rest. */
  leavePage(): void
  /** What a platform needs at the end of its process. */
  state: State
}

/**
 * Matches the address and the API key, with a space between them. The address has a scheme or is a
 * path of the page's own origin. The key has only characters that a header can contain.
 */
const targetForm = /^(https?:\/)?\/\S* [!-~]+$/i

/**
 * Creates the part of a client that is the same on every platform. It does no I/O before its first
 * record or the next turn of the event loop.
 */
export const createClient = <Attachment>(
  options: IntakeOptions,
  ports: Ports<Attachment>,
): Client<Attachment> => {
  const { url, apiKey, bundleIdentifier, deviceUuid } = options
  const isValid =
    apiKey &&
    targetForm.test(url + ' ' + apiKey) &&
    bundleIdentifier &&
    (!deviceUuid || isUuid(deviceUuid))
  if (!isValid) throw new TypeError('wrong url, apiKey, bundleIdentifier, deviceUuid')
  const nextId = createUuids(ports.random)
  const client: State = {
    ...ports,
    // JavaScript runs a timer of more than 2^31 ms (25 days) at once.
    setTimeout: (run, ms, isIdle) => ports.setTimeout(run, Math.min(ms, 1e9), isIdle),
    options,
    records: withFallback(ports.storage),
    era: firstEra(ports),
    run: nextId(ports.now()) + ports.runSuffix,
    nextId,
    keptUuid: deviceUuid,
    user: shortText(options.userId),
    refused: {},
    refusals: 0,
    consent: createSerial(),
    segments: [],
    inOrder: createSerial(),
    feedbacks: [],
    droppedNames: new Map(),
    allDropped: {},
    unreported: {},
    loops: [],
    waiting: [],
  }
  client.loops = [sendLogs, sendFeedback].map((send) => createSendLoop(client, send))
  client.setTimeout(() => void start(client), 0, true)

  return {
    log: (event, params) => log(client, event, params),
    feedback: (sent) => feedback(client, sent),
    identify(userId) {
      client.user = shortText(userId)
    },
    stored: () => save(client),
    flush: (settings) => flush(client, settings),
    async shutdown(settings) {
      const result = await flush(client, settings)
      client.isShut = true
      wake(client)
      await within(client, 1000, save(client))
      await ports.end()
      return result
    },
    optOut: () => setConsent(client, true),
    optIn: () => setConsent(client, false),
    stats: () => ({
      pending: { logs: countOf(client), feedback: client.feedbacks.length },
      stopped: client.stopReason || false,
      lastError: client.lastFailure,
      dropped: { ...client.allDropped },
      storageBytes: bytesOf(client),
      isOptedOut: !!client.isOut,
      clockOffsetMs: eraOf(client).offset,
    }),
    wake: () => wake(client, true),
    leavePage() {
      if (client.uuid && !client.stopReason && !client.loops[0]!.isHeld()) sendAtPageEnd(client)
      closeAll(client)
      void save(client)
    },
    state: client,
  }
}

const flush = async (client: State, settings?: FlushOptions | null): Promise<{ left: number }> => {
  const { timeoutMs = 5000 } = settings || {}
  await within(client, timeoutMs, sendAll(client))
  return { left: countOf(client) + client.feedbacks.length }
}

const sendAll = async (client: State): Promise<void> => {
  await start(client)
  // After the end of this client, another client may take over its segments, which `save` would
  // rename.
  if (client.isShut) return
  closeAll(client)
  await save(client)
  await new Promise<void>((resolve) => {
    client.waiting.push(resolve)
    wake(client)
  })
}
