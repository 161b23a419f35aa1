import { randomUUID } from 'node:crypto'
import type { Fault, Sandbox, SandboxRecord } from '@intake/sandbox'
import { AdapterError, type Adapter, type InitOptions } from './adapter.ts'
import type { Attempt } from './attempt.ts'
import type { Witness } from './witness.ts'

/** The error of a case whose sender did not do what the case requires. */
export class Failed extends Error {
  override name = 'Failed'
}

const flushMs = 500
/** The longest pause between two calls of `flush`. */
const flushPauseMs = 50
export const day = 86_400_000

/** What a case uses to control the sender and the server, and to check what they did. */
export interface Trial {
  sender: Adapter
  sandbox: Pick<Sandbox, 'now' | 'url'>
  /**
   * Starts the sender with the UUID of the device. After a kill it gets the same UUID and storage.
   */
  start(options?: Partial<InitOptions>): Promise<void>
  fault(fault: Fault): void
  /** Resets the connection of every request from now on, so that the server cannot be reached. */
  block(): void
  heal(): void
  attempts(): readonly Attempt[]
  /** The attempts that contain the event with the name `event` and the param `n`. */
  attemptsOf(n: number, event?: string): Attempt[]
  /** The stored records, without the events that the sender logged about itself. */
  records(kind?: SandboxRecord['kind']): SandboxRecord[]
  /** The stored log events with the name `event` and the param `n`. */
  stored(n: number, event?: string): SandboxRecord[]
  /**
   * Waits until the condition holds, without asking the sender for anything.
   *
   * @param what describes the condition, as the end of the sentence "waited in vain until …"
   * @throws {Failed}
   */
  until(what: string, condition: () => boolean): Promise<void>
  /** Like `until`, but calls `flush` repeatedly meanwhile. */
  drain(what: string, condition: () => boolean): Promise<void>
  /** Calls `flush` until `count` log events are stored. */
  drainLogs(count: number): Promise<void>
  settle(): Promise<void>
  /** Starts a flush and returns at once. A kill may end this flush. */
  beginFlush(): void
  /**
   * Fails the case if the condition is false.
   *
   * @throws {Failed}
   */
  expect(condition: boolean, seen: () => string): void
  /** Allows the log requests of this case to exceed the limit of `findViolation`. */
  allowLargeBodies(): void
  readonly mayHaveLargeBodies: boolean
}

/** Whether the event is one that senders log about themselves, such as `intake.dropped`. */
const isOwn = (event: string) => event.startsWith('intake.')

/** The name that most cases give their events. */
export const tap = 'tap'

export function createTrial(options: {
  sender: Adapter
  sandbox: Sandbox
  witness: Witness
  waitMs: number
}): Trial {
  const { sender, sandbox, witness, waitMs } = options
  const deviceUuid = randomUUID()
  const wait = createWait(options)
  let mayHaveLargeBodies = false

  const records = (kind?: SandboxRecord['kind']) =>
    sandbox
      .records()
      .filter((record) => kind === undefined || record.kind === kind)
      .filter(({ event }) => event === undefined || !isOwn(event))
  const stored = (n: number, event = tap) =>
    records('log').filter((log) => log.event === event && log.params?.['n'] === n)

  return {
    sender,
    sandbox,
    start: (init = {}) =>
      sender.init({
        url: sandbox.url,
        apiKey: sandbox.apiKey,
        bundleIdentifier: 'com.example.conformance',
        deviceUuid,
        userId: 'user-1',
        flushIntervalMs: 3_600_000,
        retryMs: { min: 20, max: 200 },
        ...init,
      }),
    fault: sandbox.addFault,
    block: () => sandbox.addFault({ resetAfterBytes: 0, times: 1_000_000 }),
    heal: sandbox.clearFaults,
    attempts: witness.attempts,
    attemptsOf: (n, event = tap) =>
      witness
        .attempts()
        .filter(({ events }) =>
          events.some((one) => one.event === event && one.params?.['n'] === n),
        ),
    records,
    stored,
    until: (what, condition) => wait(what, condition, false),
    drain: (what, condition) => wait(what, condition, true),
    drainLogs: (count) =>
      wait(`${count} log events are stored`, () => records('log').length >= count, true),
    async settle() {
      const deadline = performance.now() + waitMs
      for (;;) {
        const left = await sender.flush(flushMs)
        if (left === 0) return
        if (performance.now() > deadline) {
          throw new Failed(`waited in vain until flush said that nothing is left (it says ${left})`)
        }
        await witness.change(AbortSignal.timeout(flushPauseMs))
      }
    },
    beginFlush: () => void sender.flush(waitMs).catch(ignoreRefusal),
    expect(condition, seen) {
      if (!condition) throw new Failed(seen())
    },
    allowLargeBodies: () => (mayHaveLargeBodies = true),
    get mayHaveLargeBodies() {
      return mayHaveLargeBodies
    },
  }
}

/** Returns a function that waits until a condition holds, and perhaps flushes meanwhile. */
function createWait({ sender, witness, waitMs }: Parameters<typeof createTrial>[0]) {
  /** Flushes again and again until `signal` aborts, even if a flush fails. */
  async function pump(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sender.flush(flushMs).catch(ignoreRefusal)
      await witness.change(AbortSignal.any([signal, AbortSignal.timeout(flushPauseMs)]))
    }
  }

  return async (what: string, condition: () => boolean, flushes: boolean): Promise<void> => {
    if (condition()) return
    const late = AbortSignal.timeout(waitMs)
    const done = new AbortController()
    const pumping = flushes ? pump(AbortSignal.any([late, done.signal])) : undefined
    try {
      while (!condition()) {
        if (late.aborted) throw new Failed(`waited in vain until ${what}`)
        // Checks at least every 100 ms, because a record may be stored although no request begins
        // or changes.
        await witness.change(AbortSignal.any([late, AbortSignal.timeout(100)]))
      }
    } finally {
      done.abort()
      await pumping
    }
  }
}

/**
 * Ignores the error of a flush, because a flush fails when the case kills or stops the sender. The
 * case judges what becomes of the records.
 */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof AdapterError)) throw error
}
