import { createCore, validUser } from './core.ts'
import { createFeedbacks } from './feedbacks.ts'
import { isUuid, optIn, optOut, readKept } from './kept.ts'
import { createLogQueue } from './log-queue.ts'
import type { FlushOptions, Intake, IntakeOptions } from './options.ts'
import type { Ports } from './ports.ts'
import { feedback, log, save, sendLogs } from './record.ts'
import { sendAtPageEnd } from './send-logs.ts'
import { createSendLoop } from './send-loop.ts'
import { closeLoops, wake } from './sending.ts'
import { createSerial } from './serial.ts'
import type { State } from './state.ts'
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
export function createClient<Attachment>(
  options: IntakeOptions,
  ports: Ports<Attachment>,
): Client<Attachment> {
  const { url, apiKey, bundleIdentifier, deviceUuid } = options
  const isValid =
    apiKey &&
    targetForm.test(`${url} ${apiKey}`) &&
    bundleIdentifier &&
    (!deviceUuid || isUuid(deviceUuid))
  if (!isValid) throw new TypeError('wrong url, apiKey, bundleIdentifier or deviceUuid')
  const client = createState(options, ports)
  const { logs, drops } = client
  ports.time.setTimeout(() => void client.start(), 0, true)

  return {
    log: (event, params) => log(client, event, params),
    feedback: (sent) => feedback(client, sent),
    identify(userId) {
      client.user = validUser(userId)
    },
    stored: () => save(client),
    flush: (settings) => flush(client, settings),
    async shutdown(settings) {
      const result = await flush(client, settings)
      client.isShut = true
      closeLoops(client)
      await within(ports, 1000, save(client))
      await ports.end()
      return result
    },
    optOut: () => optOut(client),
    optIn: () => optIn(client),
    stats: () => ({
      pending: { logs: logs.count(), feedback: client.feedbacks.count() },
      stopped: client.stopped || false,
      lastError: client.lastError,
      dropped: { ...drops.total },
      storageBytes: logs.bytes(),
      isOptedOut: !!client.isOut,
      clockOffsetMs: client.clock.era().offset,
    }),
    wake: () => wake(client, true),
    leavePage() {
      if (client.uuid && !client.stopped && !client.loops[0]!.isHeld()) sendAtPageEnd(client)
      logs.close()
      void save(client)
    },
    state: client,
  }
}

function createState(options: IntakeOptions, ports: Ports<never>): State {
  const client = createCore(options, ports) as State
  let starting: Promise<void> | undefined
  client.start = () => starting || (starting = readKept(client))
  client.consent = createSerial()
  client.waiting = []
  client.logs = createLogQueue(client)
  client.feedbacks = createFeedbacks(client)
  client.loops = [() => sendLogs(client), client.feedbacks.send].map((send) =>
    createSendLoop(client, send),
  )
  return client
}

async function flush(client: State, settings?: FlushOptions | null): Promise<{ left: number }> {
  const { logs, feedbacks } = client
  const { timeoutMs = 5000 } = settings || {}
  await within(client.ports, timeoutMs, sendAll(client))
  return { left: logs.count() + feedbacks.count() }
}

async function sendAll(client: State): Promise<void> {
  await client.start()
  // After the end of this client, another client may take over its segments, which `save` would
  // rename.
  if (client.isShut) return
  client.logs.close()
  await save(client)
  const settled = new Promise<void>((resolve) => client.waiting.push(resolve))
  wake(client)
  await settled
}
