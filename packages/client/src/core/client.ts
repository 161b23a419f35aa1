import { createClock } from './clock.ts'
import { knownOf, logDevice } from './device-fields.ts'
import { createDrops } from './drops.ts'
import { parseName } from './entry-name.ts'
import { createFeedbackQueue } from './feedback-queue.ts'
import {
  adoptEveryMs,
  attachmentsMax,
  deviceMsMax,
  eventNameMax,
  identifierMax,
  segmentBytesMax,
} from './limits.ts'
import { printLine } from './log-line.ts'
import { createLogQueue } from './log-queue.ts'
import type { Feedback, FeedbackReceipt, Intake, IntakeOptions, LogEvent } from './options.ts'
import type { Ports } from './ports.ts'
import type { Context } from './segment.ts'
import { createFeedbackSender } from './send-feedback.ts'
import { createLogSender } from './send-logs.ts'
import { createSendLoop } from './send-loop.ts'
import { createSerial } from './serial.ts'
import { createUuids } from './uuid.ts'
import { withFallback } from './with-fallback.ts'

/** What the entry of a platform adds to the events of its host. */
export interface Client<Attachment> extends Intake<Attachment> {
  /** Sends at once, because the network is back or the app is in front again. */
  wake(): void
  /** The page may end now: sends what fits, and stores the rest. */
  leavePage(bytesMax: number): void
  /** Events that are not stored yet, for a synchronous write when the process exits. */
  unsaved(): { name: string; text: string }[]
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const deviceKey = 'device'
const optOutKey = 'opted-out'
const droppedKey = 'dropped'

/** The client of every platform. It does nothing but remember its options until it is used. */
export function createClient<Attachment>(
  options: IntakeOptions,
  ports: Ports<Attachment>,
): Client<Attachment> {
  checkOptions(options)
  const { time } = ports
  const { beforeSend, flushIntervalMs = 5000 } = options
  const storage = withFallback(ports.storage)
  const serial = createSerial()
  const clock = createClock(time)
  let hasNewDrops = false
  const drops = createDrops((reason, count) => {
    hasNewDrops = true
    if (options.onDrop) options.onDrop(reason, count)
  })
  const nextId = createUuids(ports.random)
  const keyIds = createUuids(ports.random)
  const newKey = () => keyIds(time.now()).replace(/-/g, '')
  const ageOf = (key: string) => time.now() - parseInt(key.slice(0, 12), 16)
  const run = `${newKey()}${ports.runSuffix}`
  let user = validUser(options.userId)
  let uuid = options.deviceUuid
  let device: Record<string, unknown> = {}
  let isOptedOut = false
  let isShut = false
  let stopped: string | undefined
  let starting: Promise<void> | undefined
  let isStarted = false
  let adoptedAt = 0
  let writeTimer: unknown
  let writing: Promise<void> | undefined
  let flushTimer: unknown
  let waiting: (() => void)[] = []

  const contextOf = (memory: { user: string | undefined; era: Context['era'] }): Context => ({
    bundle: options.bundleIdentifier,
    uuid: uuid || '',
    user: memory.user || '',
    device: logDevice(device),
    era: memory.era,
    run,
  })
  const logs = createLogQueue({
    ports: { storage, time },
    serial,
    clock,
    drops,
    run,
    newKey,
    entriesMax: Math.min(Math.max(options.batchEntriesMax || 500, 1), 500),
    bytesMax: options.storageBytesMax || 4_000_000,
    eventsMax: options.storageEventsMax || 5000,
    mayLeave: () => ports.sendsAtPageEnd(),
    contextOf,
  })
  const feedbacks = createFeedbackQueue({ storage, drops, run, newKey, ageOf })
  const logSender = createLogSender({
    ports,
    queue: logs,
    clock,
    drops,
    run,
    deviceUuid: () => uuid!,
  })
  const sendFeedback = createFeedbackSender({ ports, queue: feedbacks, clock, drops })
  const retryMs = options.retryMs || { min: 1000, max: 900_000 }
  const loopOptions = { time, retryMs, onPause }
  const logLoop = createSendLoop({
    ...loopOptions,
    async send() {
      const sent = await logSender.send()
      // A server that answers is there to be told what was lost.
      if (sent && sent.next === 'done') reportDrops()
      return sent
    },
  })
  const feedbackLoop = createSendLoop({ ...loopOptions, send: sendFeedback })

  function onPause(reason: string | undefined): void {
    if (reason) {
      stopped = reason
      logLoop.close()
      feedbackLoop.close()
    } else if (time.monotonic() - adoptedAt > adoptEveryMs) void adopt().catch(() => undefined)
    settleWaiting()
  }

  /** Ends the waiting for a flush if nothing more can be sent now. */
  function settleWaiting(): void {
    if (
      !stopped &&
      (logs.oldest() || logs.segments.some((one) => one.isBusy) || feedbacks.oldest())
    )
      return
    if (logLoop.isRunning() || feedbackLoop.isRunning()) return
    const settled = waiting
    waiting = []
    for (const settle of settled) settle()
  }

  /** Reads what earlier runs have left. */
  const start = (): Promise<void> => starting || (starting = load())

  async function load(): Promise<void> {
    const [kept, optedOut, dropped] = [
      uuid || (await storage.get(deviceKey)),
      await storage.get(optOutKey),
      await storage.get(droppedKey),
    ]
    if (typeof kept === 'string' && uuidForm.test(kept)) uuid = kept
    else await storage.set(deviceKey, (uuid = nextId(time.now())))
    isOptedOut = isOptedOut || optedOut === true
    await readDevice()
    if (isOptedOut) await removeAll()
    else await adopt()
    isStarted = true
    if (dropped && typeof dropped === 'object') drops.restore(dropped as Record<string, number>)
    logLoop.wake()
    feedbackLoop.wake()
  }

  async function readDevice(): Promise<void> {
    const reading = Promise.resolve().then(() => ports.device())
    const found = await within(
      deviceMsMax,
      reading.catch(() => undefined),
    )
    device = knownOf({ ...(found || device), ...options.device })
  }

  async function adopt(): Promise<void> {
    adoptedAt = time.monotonic()
    const names = await storage.list()
    const runs = new Map<string, boolean>([[run, true]])
    const left: string[] = []
    for (const name of names) {
      const parsed = parseName(name)
      const owner = parsed ? parsed.run : ''
      if (owner && !runs.has(owner)) runs.set(owner, await ports.isAlive(owner).catch(() => false))
      if (!runs.get(owner)) left.push(name)
    }
    await logs.adopt(left)
    feedbacks.adopt(left)
    if (isStarted && logs.oldest()) logLoop.wake()
  }

  async function removeAll(): Promise<void> {
    logs.clear()
    feedbacks.clear()
    const names = await storage.list()
    await serial(async () => {
      for (const name of names) {
        if (parseName(name)) await storage.remove(name)
        else if (name.indexOf('attachment.') === 0) await storage.set(name, undefined)
      }
    })
  }

  function scheduleWrite(): void {
    if (writeTimer === undefined && !writing)
      writeTimer = time.setTimeout(() => void save(), ports.writeDelayMs)
  }

  /** Stores what is in memory only. Calls while it does so are done together afterwards. */
  function save(): Promise<void> {
    time.clearTimeout(writeTimer)
    writeTimer = undefined
    const before = writing || start()
    const work = before
      .then(() => logs.save())
      .then(saveDrops)
      .catch(() => undefined)
      .then(() => {
        if (writing === work) writing = undefined
        if (logs.hasUnsaved()) scheduleWrite()
      })
    writing = work
    return work
  }

  /** So that they can be reported after a restart. */
  async function saveDrops(): Promise<void> {
    if (!hasNewDrops) return
    hasNewDrops = false
    const counts = drops.unreported()
    await storage.set(droppedKey, counts ? { ...counts } : undefined)
  }

  function reportDrops(): void {
    const counts = drops.unreported()
    if (!counts || isOptedOut || isShut) return
    drops.reported()
    hasNewDrops = true
    add('intake.dropped', JSON.stringify(counts))
  }

  function add(event: string, params: string): string {
    const nowMs = clock.now()
    const { offset } = clock.era()
    const id = nextId(nowMs)
    logs.add(printLine(id, event, params, offset === 0 ? undefined : nowMs - offset), user)
    scheduleWrite()
    if (flushTimer === undefined)
      flushTimer = (time.setIdleTimeout || time.setTimeout)(flushSoon, flushIntervalMs)
    return id
  }

  function flushSoon(): void {
    flushTimer = undefined
    logs.close()
    void save().then(() => logLoop.wake())
    // Its battery has changed.
    void readDevice()
  }

  function drop(reason: string): undefined {
    drops.add(reason, 1)
    scheduleWrite()
    return undefined
  }

  function log(event: string, params: Record<string, unknown> = {}): string | undefined {
    if (isOptedOut || isShut) return undefined
    try {
      const changed = beforeSend ? beforeSend({ event, params }) : { event, params }
      if (!changed) return undefined
      if (!isEventName(changed.event)) return drop('invalid_event')
      const text = JSON.stringify(changed.params)
      if (typeof text !== 'string' || text[0] !== '{') return drop('invalid_event')
      // In UTF-8 it has up to three times as many bytes.
      if (text.length > segmentBytesMax / 2) return drop('too_large')
      return add(changed.event, text)
    } catch {
      // Params that JSON cannot hold, or an error of `beforeSend`.
      return drop('invalid_event')
    }
  }

  async function feedback(sent: Feedback<Attachment>): Promise<FeedbackReceipt> {
    const id = nextId(clock.now())
    try {
      const owner = user
      const timestamp = new Date(clock.now()).toISOString()
      await start()
      if (isOptedOut || isShut) return { id, isKept: false }
      if (!sent || !sent.text || typeof sent.text !== 'string') drop('invalid_feedback')
      else if (!feedbacks.hasRoom()) drop('feedback_full')
      else {
        await readDevice()
        const { text, email = '', attachments = [] } = sent
        const payload = JSON.stringify({
          bundle_identifier: options.bundleIdentifier,
          device,
          device_uuid: uuid,
          unique_user_id: owner || uuid,
          feedback: { id, text, email, attachments: [], timestamp },
        })
        const kept = attachments.slice(0, attachmentsMax).map((one) => ports.keepAttachment(one))
        await feedbacks.add(payload, kept)
        feedbackLoop.wake()
        return { id, isKept: true }
      }
    } catch {
      drop('invalid_feedback')
    }
    return { id, isKept: false }
  }

  const left = () => logs.count() + feedbacks.count()

  async function drain(): Promise<void> {
    logs.close()
    await save()
    if (stopped || left() === 0) return
    const settled = new Promise<void>((resolve) => waiting.push(resolve))
    logLoop.wake(true)
    feedbackLoop.wake(true)
    settleWaiting()
    await settled
  }

  async function flush({ timeoutMs = 5000 } = {}): Promise<{ left: number }> {
    await within(
      timeoutMs,
      drain().catch(() => undefined),
    )
    return { left: left() }
  }

  /** The result, or undefined after so many milliseconds. */
  function within<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
    return new Promise((resolve) => {
      const timer = time.setTimeout(() => resolve(undefined), ms)
      void work.then((result) => {
        time.clearTimeout(timer)
        resolve(result)
      })
    })
  }

  const startTimer = (time.setIdleTimeout || time.setTimeout)(() => void start(), 0)

  return {
    log,
    feedback,
    identify(userId) {
      user = validUser(userId)
    },
    async stored() {
      await save()
    },
    flush,
    async shutdown(settings) {
      const result = await flush(settings)
      isShut = true
      time.clearTimeout(startTimer)
      time.clearTimeout(flushTimer)
      time.clearTimeout(writeTimer)
      logLoop.close()
      feedbackLoop.close()
      await within(1000, save())
      if (storage.close) storage.close()
      return result
    },
    async optOut() {
      isOptedOut = true
      logs.clear()
      feedbacks.clear()
      await start().catch(() => undefined)
      await storage.set(optOutKey, true)
      await removeAll()
      settleWaiting()
    },
    async optIn() {
      await start().catch(() => undefined)
      await storage.set(optOutKey, undefined)
      isOptedOut = false
    },
    stats: () => ({
      pending: { logs: logs.count(), feedback: feedbacks.count() },
      stopped: stopped || false,
      dropped: drops.total(),
      storageBytes: logs.bytes(),
      isOptedOut,
      clockOffsetMs: clock.era().offset,
    }),
    wake() {
      logLoop.wake(true)
      feedbackLoop.wake(true)
    },
    leavePage(bytesMax) {
      if (isStarted && !stopped && !isShut && bytesMax > 0)
        logSender.sendAtPageEnd(bytesMax, ({ memory }) => contextOf(memory!))
      else logs.close()
      void save()
    },
    unsaved: () => (isOptedOut ? [] : logs.unsaved()),
  }
}

function checkOptions({ url, apiKey, bundleIdentifier, deviceUuid }: IntakeOptions): void {
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  if (!isText(url) || !isText(apiKey)) throw new TypeError('Intake needs url and apiKey.')
  if (!isText(bundleIdentifier) || bundleIdentifier.length > identifierMax)
    throw new TypeError(`bundleIdentifier must have 1 to ${identifierMax} characters.`)
  if (deviceUuid !== undefined && !uuidForm.test(deviceUuid))
    throw new TypeError('deviceUuid must be a UUID.')
}

const validUser = (userId: string | undefined) =>
  typeof userId === 'string' && userId !== '' ? userId.slice(0, identifierMax) : undefined

const isEventName = (event: unknown): event is LogEvent['event'] =>
  typeof event === 'string' && event !== '' && event.length <= eventNameMax
