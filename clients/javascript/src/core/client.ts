import { createClock } from './clock.ts'
import type { Core } from './core.ts'
import { parseObject } from './decide.ts'
import { createDroppedNames } from './dropped-names.ts'
import { addCounts, createDrops, type Drops } from './drops.ts'
import { parseName, type ParsedName } from './entry-name.ts'
import type { Sender } from './segment.ts'
import { createFeedbacks, isFeedback } from './feedbacks.ts'
import {
  attachmentsMax,
  deviceMsMax,
  feedbackTextMax,
  identifierMax,
  paramsBytesMax,
  startMsMax,
} from './limits.ts'
import { printLine } from './log-line.ts'
import { createLogQueue, type LogQueue } from './log-queue.ts'
import { printJson } from './print-json.ts'
import type { Feedback, FeedbackReceipt, FlushOptions, Intake, IntakeOptions } from './options.ts'
import type { Ports } from './ports.ts'
import { createLogSender } from './send-logs.ts'
import { createSendLoop, type SendLoop, type Sent } from './send-loop.ts'
import { createSerial } from './serial.ts'
import { textBytes } from './text-bytes.ts'
import { createUuids } from './uuid.ts'
import { deviceKey, droppedKey, optOutKey } from './value-keys.ts'
import { nothing, withFallback } from './with-fallback.ts'

/** The methods for the app, and those that only the platform's own modules call. */
export interface Client<Attachment> extends Intake<Attachment> {
  /**
   * Sends at once, because the network is available again or the app is in the foreground again.
   */
  wake(): void
  /** Prepares for the end of the page: sends what fits into one request, and stores the rest. */
  leavePage(): void
  loops: readonly SendLoop[]
  logs: LogQueue
  drops: Drops
  /** The name of this run. Each created client is a run of its own. */
  run: string
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
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
  const { url, apiKey, bundleIdentifier, deviceUuid = '' } = options
  const isValid =
    apiKey &&
    targetForm.test(`${url} ${apiKey}`) &&
    bundleIdentifier &&
    (!deviceUuid || uuidForm.test(deviceUuid))
  if (!isValid) throw new TypeError('wrong url, apiKey, bundleIdentifier or deviceUuid')
  const { time } = ports
  const { beforeSend, onDrop, flushIntervalMs = 5000 } = options
  const storage = withFallback(ports.storage)
  const clock = createClock(time)
  const nextId = createUuids(ports.random)
  const newId = () => nextId(clock.now())
  let user = validUser(options.userId)
  /** The UUID that is stored with records; empty until it is known for good. */
  let uuid = deviceUuid
  let device: Record<string, unknown> | undefined
  let found: unknown
  const consent = createSerial()
  let isOptedOut = false
  /** Whether the last call was `optOut`; undefined if the app has called neither. */
  let wantsOut: boolean | undefined
  let isShut = false
  let isLoaded = false
  let stopped: string | undefined
  let starting: Promise<void> | undefined
  let readTimer: unknown
  let hasNewDrops = false
  let writing: Promise<void> | undefined
  let writeTimer: unknown
  let flushTimer: unknown
  /** Whether the open segment must be sent as soon as no closed segment waits. */
  let isDue = false
  /**
   * The functions that resolve the waiting calls of `flush`. They are called when nothing more can
   * be sent now.
   */
  let waiting: (() => void)[] = []

  const drops = createDrops((reason, count) => {
    hasNewDrops = true
    // Calls `onDrop` later, because the app may call `log` in it.
    if (onDrop)
      time.setTimeout(() => {
        try {
          onDrop(reason, count)
        } catch {
          // An error in the app's own function must not stop the client.
        }
      }, 0)
  })
  const core: Core = {
    options,
    ports,
    storage,
    clock,
    drops,
    droppedNames: createDroppedNames(clock),
    run: newId() + ports.runSuffix,
    newId,
    uuid: '',
    start,
    refused: [],
    senderOf(owner, isOfFeedback) {
      const sender: Sender = { bundle_identifier: bundleIdentifier }
      if (device)
        sender.device = ports.logDevice && !isOfFeedback ? ports.logDevice(device) : device
      if (uuid) sender.device_uuid = sender.unique_user_id = uuid
      if (owner) sender.unique_user_id = owner
      return sender
    },
  }
  const logs = createLogQueue(core)
  const feedbacks = createFeedbacks(core)
  const logSender = createLogSender(core, logs)
  const logLoop = createSendLoop(core, sendLogs, onPause)
  const feedbackLoop = createSendLoop(core, feedbacks.send, onPause)

  async function sendLogs(): Promise<Sent | undefined> {
    // Closes the open segment only when no closed segment waits. During an outage, the events thus
    // collect in few segments.
    if (isDue && !logs.oldest()) {
      isDue = false
      logs.close()
    }
    const sent = await logSender.send()
    // The server accepts events, so it can receive the report of dropped records. `flush` waits for
    // this report, too.
    if (sent && sent.isAccepted && reportDrops() && waiting[0]) logs.close()
    return sent
  }

  function onPause(stop: string | undefined): void {
    if (stop) {
      stopped = stop
      logLoop.close()
      feedbackLoop.close()
    }
    settleWaiting()
  }

  function settleWaiting(): void {
    if (logLoop.sending() || feedbackLoop.sending()) return
    if (!stopped && (logs.oldest() || feedbacks.canSend())) return
    for (const settle of waiting) settle()
    waiting = []
  }

  function start(): Promise<void> {
    return starting || (starting = within(startMsMax, load(), true).then(begin))
  }

  /** Makes the device's UUID if it is not known. */
  function begin(): void {
    core.uuid = core.uuid || uuid || newId()
  }

  type Kept = [device?: unknown, isOptedOut?: unknown, dropped?: unknown, names?: string[]]

  /**
   * Makes all reads at the same time, because a page can end within milliseconds. If one fails, all
   * are repeated until they succeed, because only a successful read says that something is absent.
   * A storage that the browser forbids to the page is empty.
   */
  const readKept = (pauseMs: number): Promise<Kept> =>
    Promise.all([
      storage.get(deviceKey),
      storage.get(optOutKey),
      storage.get(droppedKey),
      storage.list(),
    ]).catch((error): Kept | Promise<Kept> =>
      Object(error).name === 'SecurityError'
        ? []
        : new Promise((resolve) => {
            const next = Math.min(pauseMs * 2, 2000)
            if (!isShut) readTimer = time.setTimeout(() => resolve(readKept(next)), pauseMs, true)
          }),
    )

  async function load(): Promise<void> {
    const reading = readDevice()
    const [kept, optedOut, dropped, names] = await readKept(100)
    await reading
    if (isShut) return
    if (!uuid) {
      uuid = uuidForm.test(kept as string) ? (kept as string) : core.uuid || newId()
      if (uuid !== kept) await storage.set(deviceKey, uuid)
    }
    core.uuid = uuid
    isLoaded = true
    addCounts(drops.unreported, Object(dropped) as Record<string, number>)
    if (optedOut && wantsOut !== false) isOptedOut = true
    if (isOptedOut) await removeAll()
    else await adopt(names || [])
    logLoop.wake()
    feedbackLoop.wake()
  }

  async function readDevice(): Promise<void> {
    // If the device cannot be read in time, the properties that were found before are used.
    found = (await within(deviceMsMax, Promise.resolve().then(ports.device))) || found
    device = addKnown(addKnown({}, found), options.device)
  }

  /** Takes over the stored records of ended runs. */
  async function adopt(names: string[]): Promise<void> {
    const left = names
      .sort()
      .map(parseName)
      .filter((entry) => entry && entry.run !== core.run)
    feedbacks.adopt(names)
    await logs.adopt(left as ParsedName[])
  }

  async function removeAll(): Promise<void> {
    logs.clear()
    feedbacks.clear()
    for (const name of await storage.list().catch((): string[] => [])) {
      if (parseName(name) || isFeedback(name)) await storage.remove(name)
    }
  }

  function scheduleWrite(): void {
    if (!writeTimer && !writing) writeTimer = time.setTimeout(() => void save(), ports.writeDelayMs)
  }

  /** Stores the events that are only in memory. */
  function save(): Promise<void> {
    time.clearTimeout(writeTimer)
    writeTimer = undefined
    void start()
    const work = (writing || Promise.resolve())
      .then(logs.save)
      .then(saveDrops)
      .catch(nothing)
      .then(() => {
        if (writing === work) writing = undefined
        if (logs.hasUnsaved()) scheduleWrite()
      })
    writing = work
    return work
  }

  /** Stores the counts of dropped records, so that they can be reported after a restart. */
  async function saveDrops(): Promise<void> {
    // Does not overwrite counts that could not be read yet.
    if (!hasNewDrops || !isLoaded) return
    hasNewDrops = false
    await storage.set(droppedKey, { ...drops.unreported })
  }

  /**
   * Logs an event that reports the dropped records. Returns its id; undefined if nothing is logged.
   */
  function reportDrops(): string | undefined {
    const counts = drops.unreported
    if (!Object.keys(counts)[0] || isOptedOut || isShut) return undefined
    drops.unreported = {}
    hasNewDrops = true
    return add('intake.dropped', JSON.stringify(counts))
  }

  function add(event: string, params: string): string {
    const nowMs = clock.now()
    const { offset } = clock.era()
    const id = nextId(nowMs)
    logs.add(printLine(id, event, params, offset && nowMs - offset), user)
    scheduleWrite()
    if (!flushTimer) flushTimer = time.setTimeout(flushSoon, flushIntervalMs, true)
    return id
  }

  function flushSoon(): void {
    flushTimer = undefined
    isDue = true
    void save().then(() => logLoop.wake())
    // Reads the device again, because its battery level may have changed.
    void readDevice()
  }

  function drop(reason: string): undefined {
    drops.add(reason, 1)
    scheduleWrite()
    return undefined
  }

  function log(event: string, params?: object | null): string | undefined {
    if (isOptedOut || isShut) return undefined
    try {
      let name = event
      let text = printJson(params || {})
      if (beforeSend) {
        const changed = beforeSend({ event, params: parseObject(text) })
        if (!changed) return undefined
        name = changed.event
        text = printJson(changed.params)
      }
      if (isText(name, identifierMax) && text && text[0] === '{') {
        if (textBytes(text) > paramsBytesMax) return drop('too_large')
        return core.droppedNames.leavesOut(name) ? undefined : add(name, text)
      }
    } catch {
      // `beforeSend` threw an error.
    }
    return drop('invalid_event')
  }

  async function feedback(sent: Feedback<Attachment>): Promise<FeedbackReceipt> {
    const nowMs = clock.now()
    const id = nextId(nowMs)
    const owner = user
    try {
      const { text } = sent
      const email = sent.email || ''
      // An app without TypeScript may pass a single attachment instead of a list.
      const all = ([] as Attachment[]).concat(sent.attachments || [])
      const first = all.slice(0, attachmentsMax)
      const keeping = Promise.all(first.map(ports.keepAttachment))
      await start()
      await readDevice()
      if (isOptedOut || isShut) return { id, isKept: false }
      const payload = JSON.stringify({
        ...core.senderOf(owner, true),
        feedback: { id, text, email, attachments: [], timestamp: new Date(nowMs).toISOString() },
      })
      const kept = (await keeping).filter(Boolean)
      if (!isText(text, feedbackTextMax)) drop('invalid_feedback')
      else if (await feedbacks.add(id, { payload, attachments: kept })) {
        drops.add('too_many_attachments', all.length - first.length)
        drops.add('invalid_attachment', first.length - kept.length)
        feedbackLoop.wake()
        return { id, isKept: true }
      } else if (!isOptedOut) drop('feedback_full')
    } catch {
      drop('invalid_feedback')
    }
    return { id, isKept: false }
  }

  async function drain(): Promise<void> {
    await start()
    // After the end of this client, another client may take over its segments, which `save` would
    // rename.
    if (isShut) return
    logs.close()
    await save()
    const settled = new Promise<void>((resolve) => waiting.push(resolve))
    logLoop.wake()
    feedbackLoop.wake()
    settleWaiting()
    await settled
  }

  async function flush(settings?: FlushOptions | null): Promise<{ left: number }> {
    const { timeoutMs = 5000 } = settings || {}
    await within(timeoutMs, drain())
    return { left: logs.count() + feedbacks.count() }
  }

  /**
   * Resolves to the result of `work`; to undefined if it fails, or takes longer than `ms`.
   *
   * @param isIdle true if the wait should not keep the process alive
   */
  function within<Result>(
    ms: number,
    work: Promise<Result>,
    isIdle?: boolean,
  ): Promise<Result | undefined> {
    return new Promise((resolve) => {
      // JavaScript runs a timer of more than 2^31 ms (25 days) at once.
      const timer = time.setTimeout(() => resolve(undefined), Math.min(ms, 1e9), isIdle)
      void work.catch(nothing).then((result) => {
        time.clearTimeout(timer)
        resolve(result)
      })
    })
  }

  time.setTimeout(() => void start(), 0, true)

  return {
    log,
    feedback,
    identify(userId) {
      user = validUser(userId)
    },
    stored: save,
    flush,
    async shutdown(settings) {
      const result = await flush(settings)
      isShut = true
      time.clearTimeout(flushTimer)
      time.clearTimeout(readTimer)
      logLoop.close()
      feedbackLoop.close()
      await within(1000, save())
      time.clearTimeout(writeTimer)
      await ports.end()
      return result
    },
    optOut() {
      isOptedOut = wantsOut = true
      return consent(async () => {
        await start()
        await storage.set(optOutKey, true)
        await removeAll()
        settleWaiting()
      })
    },
    optIn() {
      wantsOut = false
      return consent(async () => {
        await start()
        await storage.remove(optOutKey)
        // If `optOut` was called while this `optIn` ran, the later call, `optOut`, takes effect.
        isOptedOut = !!wantsOut
      })
    },
    stats: () => ({
      pending: { logs: logs.count(), feedback: feedbacks.count() },
      stopped: stopped || false,
      lastError: core.lastError,
      dropped: { ...drops.total },
      storageBytes: logs.bytes(),
      isOptedOut,
      clockOffsetMs: clock.era().offset,
    }),
    loops: [logLoop, feedbackLoop],
    wake() {
      logLoop.wake(true)
      feedbackLoop.wake(true)
    },
    leavePage() {
      if (core.uuid && !stopped && !logLoop.isHeld()) logSender.sendAtPageEnd()
      logs.close()
      void save()
    },
    logs,
    drops,
    run: core.run,
  }
}

const isText = (value: unknown, lengthMax = Infinity): boolean =>
  typeof value === 'string' && value !== '' && Array.from(value).length <= lengthMax

/** The user id as text; empty if it is invalid. Apps without TypeScript may pass a number. */
const validUser = (userId: unknown) =>
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
