import fc from 'fast-check'
import t from 'tap'
import type { Client } from '../../src/core/client.ts'
import type { Ports, Storage, Transport } from '../../src/core/ports.ts'
import type { Fault } from '../fake-intake.ts'
import { checkProperty } from '../../../../gateway/test/properties/property.ts'
import { createHost, portsOf, type Host } from '../host.ts'

const hourMs = 3_600_000

type Action =
  | { do: 'log'; count: number; tab: number }
  | { do: 'feedback'; tab: number }
  | { do: 'advance'; ms: number }
  | { do: 'faults'; faults: Fault[] }
  /**
   * After `afterSteps` more calls of storage or network, the process ends at the next call: before
   * that call has an effect or, if `isDone`, after it.
   */
  | { do: 'crash'; tab: number; afterSteps: number; isDone: boolean }
  | { do: 'leave'; tab: number }
  | { do: 'clock'; ahead: number }

const tab = fc.nat({ max: 1 })
const fault = fc.constantFrom<Fault>(
  'lost',
  'lost',
  'unreachable',
  { status: 503, body: '{"code":"outcome_unknown"}' },
  { status: 429, retryAfter: '5' },
  'halved',
  { status: 502, body: '<html>' },
)
const action = fc.oneof(
  fc.record({ do: fc.constant('log' as const), count: fc.integer({ min: 1, max: 12 }), tab }),
  fc.record({ do: fc.constant('feedback' as const), tab }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(0, 5, 100, 6000, 60_000) }),
  fc.record({ do: fc.constant('faults' as const), faults: fc.array(fault, { maxLength: 4 }) }),
  fc.record({
    do: fc.constant('crash' as const),
    tab,
    afterSteps: fc.nat({ max: 12 }),
    isDone: fc.boolean(),
  }),
  fc.record({ do: fc.constant('leave' as const), tab }),
)
const clockAction = fc.record({
  do: fc.constant('clock' as const),
  ahead: fc.constantFrom(0, -72 * hourMs, 72 * hourMs, 5 * 60_000),
})

const never = new Promise<never>(() => undefined)

/** Starts a client whose calls of storage and network all stop at one moment, as after a kill. */
function createProcess(host: Host) {
  let stepsLeft = Infinity
  let isDone = false
  let isDead = false

  function step<Result>(run: () => Promise<Result>): Promise<Result> {
    if (isDead) return never
    if (stepsLeft-- > 0) return run()
    isDead = true
    if (isDone) void run().catch(() => undefined)
    return never
  }

  const ports = portsOf(host)
  const storage = Object.fromEntries(
    Object.entries(ports.storage).map(([name, run]) => [
      name,
      (...args: unknown[]) => step(() => (run as (...all: unknown[]) => Promise<unknown>)(...args)),
    ]),
  ) as unknown as Storage
  const transport: Transport = (request) => step(() => host.server.transport(request))
  const own: Partial<Ports<unknown>> = {
    storage,
    transport,
    pageEndBytes: () => 60_000,
    setTimeout: (run, ms) => host.time.setTimeout(() => isDead || run(), ms),
  }
  const client: Client<unknown> = host.start({ batchEntriesMax: 5 }, own)
  return {
    client,
    isDead: () => isDead,
    crash(afterSteps: number, isCompleted: boolean) {
      stepsLeft = afterSteps
      isDone = isCompleted
    },
  }
}

async function play(actions: readonly Action[]): Promise<{
  host: Host
  stored: Set<number>
  feedback: Set<string>
}> {
  const host = createHost()
  const stored = new Set<number>()
  const feedback = new Set<string>()
  let events = 0
  const startTab = () => createProcess(host)
  const tabs = [startTab(), startTab()]
  const revive = () => {
    for (const [index, one] of tabs.entries()) if (one.isDead()) tabs[index] = startTab()
  }
  for (const one of actions) {
    revive()
    const at = 'tab' in one ? tabs[one.tab]! : undefined
    if (one.do === 'log') {
      const numbers = Array.from({ length: one.count }, () => events++)
      for (const n of numbers) at!.client.log('tap', { n })
      void at!.client.stored().then(() => numbers.forEach((n) => stored.add(n)))
    } else if (one.do === 'feedback') {
      void at!.client.feedback({ text: 'Good' }).then(({ id }) => feedback.add(id))
    } else if (one.do === 'advance') await host.time.advance(one.ms)
    else if (one.do === 'faults') host.server.faults.push(...one.faults)
    else if (one.do === 'crash') at!.crash(one.afterSteps, one.isDone)
    else if (one.do === 'leave') at!.client.leavePage()
    else host.ahead = one.ahead
  }
  await host.time.advance(6000)
  // The next visit sends the remaining records, because the network is available again.
  host.server.faults = []
  for (const { crash } of tabs) crash(0, false)
  await host.time.advance(10_000)
  createProcess(host)
  await host.time.advance(2 * hourMs)
  return { host, stored, feedback }
}

/**
 * Returns the ids of each event's rows, by the event's number. If an event has several ids, it was
 * stored more than once.
 */
function idsOf(host: Host): Map<number, string[]> {
  const ids = new Map<number, string[]>()
  for (const { id, event, params } of host.server.rows.values()) {
    if (event !== 'tap') continue
    const n = params['n'] as number
    ids.set(n, [...(ids.get(n) ?? []), id])
  }
  return ids
}

t.test('what was stored arrives exactly once through crashes, lost answers and two tabs', (t) =>
  checkProperty(t, {
    runs: 150,
    value: fc.array(action, { maxLength: 30 }),
    async holds(actions) {
      const { host, stored, feedback } = await play(actions)
      const ids = idsOf(host)
      for (const [n, found] of ids)
        if (found.length !== 1) throw new Error(`event ${n} is ${found.join()}`)
      if (host.server.rows.size > ids.size) throw new Error('something was reported as dropped')
      for (const n of stored) if (!ids.has(n)) throw new Error(`event ${n} is missing`)
      const arrived = new Set(host.server.feedback.map(({ payload }) => idOfPayload(payload)))
      for (const id of feedback) if (!arrived.has(id)) throw new Error(`feedback ${id} is missing`)
    },
  }),
)

t.test('no event becomes two, even if the clock is set while attempts are open', (t) =>
  checkProperty(t, {
    runs: 150,
    value: fc.array(fc.oneof(action, clockAction), { maxLength: 30 }),
    async holds(actions) {
      const { host } = await play(actions)
      for (const [n, found] of idsOf(host))
        if (found.length !== 1) throw new Error(`event ${n} is ${found.join()}`)
    },
  }),
)

const idOfPayload = (payload: string) =>
  (JSON.parse(payload) as { feedback: { id: string } }).feedback.id
