import { IntakeError, type RecordKind } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import { shareUsedUp } from '../admission/admission.ts'
import type { QueueShares } from '../admission/queue-shares.ts'
import type { Row } from '../record/row.ts'
import { mayBeStored } from './may-be-stored.ts'
import { createStoreFrame, divideBytes, type StoredFrame } from './store-frame.ts'

/** The rows of one request, which waits for all of them with one promise. */
interface Appended {
  rows: number
  left: number
  /** Whether a frame has taken a row. */
  isTaken: boolean
  failures: IntakeError[] | undefined
  resolve: () => void
  reject: (error: IntakeError) => void
}

interface Waiting {
  row: Row
  /** The time by which the row must be stored, in milliseconds of `clock.now()`. */
  deadline: number
  request: Appended
}

const framesInFlightMax = 4
/**
 * The minimum time between the starts of two frames under load. Without it there would be too many
 * frames: a frame costs Redis and the worker as much as about fifty rows. A lone row does not wait.
 */
const frameIntervalMs = 4
/** For when CPU time is scarce: a few full frames then finish sooner than many small ones. */
const busyFrameIntervalMs = 8
const busyUtilization = 0.8
/** All rows of a frame settle together, so their deadlines must be similar. */
const deadlineSpreadMs = 1_000
const frameRowsMax = 1_000
const frameCharactersMax = 1024 * 1024

interface Options {
  kind: RecordKind
  /** The share of time in which this process is busy, 0 to 1. */
  loopUtilization: () => number
  /**
   * The maximum time from the arrival of a row to its storage. A row that took longer is not
   * acknowledged, because the watermark of the views may already be later than its arrival.
   */
  acceptanceMsMax: number
  onStored: (frame: StoredFrame) => void
  /**
   * What is stored, to which each stored frame is added, and the keys whose rows are refused unless
   * a frame has taken one of the same request; undefined if keys have no shares.
   */
  shares?: Pick<QueueShares, 'unsent' | 'over'> | undefined
  /** The clock to which `receivedAtMs` of rows refers, in milliseconds since 1970. */
  wallMs: () => number
  clock: Clock
}

/**
 * Stores rows in frames. A lone row starts a frame at once. Under load, a row waits a few
 * milliseconds for the next frame, or longer while the maximum number of frames is in flight. The
 * next frame takes the rows that have arrived before it starts. So under load frames become larger,
 * not more frequent. All rows of a frame belong to one partition; rows of other partitions wait for
 * a later frame.
 */
export class GroupCommit {
  readonly #options: Options
  readonly #storeFrame: ReturnType<typeof createStoreFrame>
  #waiting: Waiting[] = []
  #isScheduled = false
  /** The earliest start of the next frame, in milliseconds of `clock.now()`. */
  #nextStart = 0
  readonly #inFlight = new Set<Promise<void>>()

  constructor(options: Options & Parameters<typeof createStoreFrame>[0]) {
    this.#options = options
    this.#storeFrame = createStoreFrame(options)
  }

  /**
   * Resolves when all rows of a request are on stable storage.
   *
   * @param deadline in milliseconds of `clock.now()`
   * @throws {IntakeError} `queue_unavailable`, `queue_full` (certainly none is stored),
   * `outcome_unknown` (some may be stored, or stored too long after their arrival), or
   * `internal_error` on a fault of this program
   */
  append(rows: readonly Row[], deadline: number): Promise<void> {
    if (rows.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const { length } = rows
      const request = {
        rows: length,
        left: length,
        isTaken: false,
        failures: undefined,
        resolve,
        reject,
      }
      for (const row of rows) this.#waiting.push({ row, deadline, request })
      this.#schedule()
    })
  }

  /** Resolves when all appended rows have settled. */
  async close(): Promise<void> {
    const { clock } = this.#options
    while (this.#waiting.length > 0 || this.#inFlight.size > 0) {
      await Promise.all(this.#inFlight)
      await new Promise<void>((resolve) => clock.setImmediate(resolve))
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight.size >= framesInFlightMax) return
    this.#isScheduled = true
    const { clock } = this.#options
    const pauseMs = this.#nextStart - clock.now()
    if (pauseMs > 0) clock.setTimeout(this.#start, pauseMs)
    else clock.setImmediate(this.#start)
  }

  readonly #start = (): void => {
    this.#isScheduled = false
    const frame = this.#takeFrame()
    const isLone = frame.length <= 1 && this.#inFlight.size === 0
    // Rows that did not fit into this frame do not wait for the interval.
    const waits = !isLone && this.#waiting.length === 0
    this.#nextStart = waits ? this.#options.clock.now() + this.#intervalMs() : 0
    if (frame.length > 0) {
      const flight = this.#commit(frame).finally(() => {
        this.#inFlight.delete(flight)
        if (this.#waiting.length > 0) this.#schedule()
      })
      this.#inFlight.add(flight)
    }
    if (this.#waiting.length > 0) this.#schedule()
  }

  #intervalMs(): number {
    return this.#options.loopUtilization() > busyUtilization ? busyFrameIntervalMs : frameIntervalMs
  }

  /**
   * Takes the oldest row and as many rows of its partition as fit. Rejects rows that can no longer
   * be stored in time, and requests of keys that are over their share by now: these are certainly
   * not stored.
   */
  #takeFrame(): Waiting[] {
    const { acceptanceMsMax, kind, shares, clock, wallMs } = this.#options
    const over = shares?.over[kind]
    const hasOver = over !== undefined && over.size > 0
    const now = clock.now()
    const arrivedAfter = wallMs() - acceptanceMsMax
    const frame: Waiting[] = []
    const others: Waiting[] = []
    let first: Waiting | undefined
    let characters = 0
    let isFull = false
    for (const one of this.#waiting) {
      const { row, deadline, request } = one
      if (deadline <= now || row.receivedAtMs < arrivedAfter) {
        settleRow(request, notInTime())
        continue
      }
      if (hasOver && !request.isTaken && over.has(row.apiKeyId)) {
        settleRow(request, shareUsedUp())
        continue
      }
      first ??= one
      if (isFull || row.partition !== first.row.partition) {
        others.push(one)
        continue
      }
      isFull =
        frame.length === frameRowsMax ||
        Math.abs(deadline - first.deadline) > deadlineSpreadMs ||
        (characters + row.json.length >= frameCharactersMax && frame.length > 0)
      if (isFull) {
        others.push(one)
      } else {
        frame.push(one)
        request.isTaken = true
        characters += row.json.length + 1
      }
    }
    this.#waiting = others
    return frame
  }

  /** Stores one frame and settles its rows. Never rejects. */
  async #commit(frame: readonly Waiting[]): Promise<void> {
    const { acceptanceMsMax, onStored, shares } = this.#options
    const rows: Row[] = []
    let deadline = -Infinity
    for (const one of frame) {
      rows.push(one.row)
      deadline = Math.max(deadline, one.deadline)
    }
    try {
      const stored = await this.#storeFrame(rows, deadline)
      const arrivedAfter = stored.storedAtMs - acceptanceMsMax
      for (const { row, request } of frame) {
        settleRow(request, row.receivedAtMs >= arrivedAfter ? undefined : tooLate())
      }
      onStored(stored)
      if (shares !== undefined) divideBytes(rows, stored.bytes, shares.unsent)
    } catch (error) {
      for (const { request } of frame) settleRow(request, error as IntakeError)
    }
  }
}

/**
 * Settles one row. The last row settles its request: with `outcome_unknown` if only some rows have
 * failed. If all have failed: with the first failure after which a row may be stored, else with the
 * first failure.
 */
function settleRow(request: Appended, failure: IntakeError | undefined): void {
  if (failure !== undefined) (request.failures ??= []).push(failure)
  request.left--
  if (request.left > 0) return
  const { failures } = request
  if (failures === undefined) {
    request.resolve()
    return
  }
  const cause = failures.find(mayBeStored) ?? failures[0]!
  if (failures.length === request.rows) request.reject(cause)
  else {
    request.reject(
      new IntakeError('outcome_unknown', 'Some of the records may be stored.', { cause }),
    )
  }
}

const notInTime = () =>
  new IntakeError('queue_unavailable', 'The queue did not take the record in time.')

const tooLate = () => new IntakeError('outcome_unknown', 'The queue took the record too late.')
