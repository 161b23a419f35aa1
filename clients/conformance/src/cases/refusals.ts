import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConformanceCase } from '../conformance-case.ts'
import type { Fault } from '@intake/sandbox'
import { day, tap, type Trial } from '../trial.ts'

/** Flushes until the first request has ended. */
async function untilFirstEnded({ drain, attempts }: Trial): Promise<void> {
  await drain('the first attempt ends', () => attempts()[0]?.seen.endedAt !== undefined)
}

function expectAttempts({ attemptsOf, expect }: Trial, n: number, count: number): void {
  const found = attemptsOf(n).length
  expect(found === count, () => `event ${n} was sent ${found} times`)
}

/**
 * A case in which a refusal is final: the event is never sent again, and later events are
 * delivered.
 */
function isFinal(title: string, refusal: Fault): ConformanceCase {
  return {
    title,
    async run(trial) {
      const { start, fault, sender, drain, settle, stored } = trial
      await start()
      fault(refusal)
      await sender.log(tap, { n: 1 })
      await untilFirstEnded(trial)
      await sender.log(tap, { n: 2 })
      await drain('the next event is stored', () => stored(2).length === 1)
      await settle()
      expectAttempts(trial, 1, 1)
    },
  }
}

/** A case in which the second and the fourth event of a batch of five are rejected. */
function rejects(title: string, code: string, judge: (trial: Trial) => void): ConformanceCase {
  return {
    title,
    needs: ['batch'],
    async run(trial) {
      const { start, fault, sender, drain, settle, stored, attempts, expect } = trial
      await start()
      fault({ rejectEntries: { code, indexes: [1, 3] } })
      await sender.logs(tap, 5)
      await untilFirstEnded(trial)
      expect(attempts()[0]?.events.length === 5, () => {
        return `the first request has ${attempts()[0]?.events.length} of the 5 events`
      })
      await sender.log(tap, { n: 5 })
      await drain('the next event is stored', () => stored(5).length === 1)
      await settle()
      judge(trial)
    },
  }
}

/** Makes the sender log five events while every request is refused because of its API key. */
async function refuseKey(trial: Trial, refusal: Fault): Promise<void> {
  const { start, fault, sender, drain, attempts } = trial
  await start()
  fault({ ...refusal, times: 1_000_000 })
  await sender.log(tap, { n: 0 })
  await drain('the refusal has arrived', () => attempts()[0]?.seen.endedAt !== undefined)
  for (let n = 1; n < 5; n++) {
    await sender.log(tap, { n })
    await sender.flush(500)
  }
}

function stopsFor(title: string, refusal: Fault): ConformanceCase {
  return {
    title,
    async run(trial) {
      await refuseKey(trial, refusal)
      const { attempts, expect } = trial
      expect(attempts().length === 1, () => `${attempts().length} requests with this key`)
    },
  }
}

function keepsThrough(title: string, refusal: Fault): ConformanceCase {
  return {
    title,
    async run(trial) {
      await refuseKey(trial, refusal)
      const { sender, heal, start, drainLogs, records, expect } = trial
      await sender.kill()
      heal()
      await start()
      await drainLogs(5)
      expect(records().length === 5, () => `${records().length} records`)
    },
  }
}

/** A case in which the first response points to another server, which must get no request. */
function staysAt(status: number): ConformanceCase {
  return {
    title: `sends nothing to where a ${status} points, and keeps the event`,
    async run({ start, fault, sender, drainLogs, expect }) {
      const seen: string[] = []
      const other = createServer(({ method, url }, response) => {
        seen.push(`${method} ${url}`)
        // With these fields, a browser lets a page follow the redirect.
        const any = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
        response.writeHead(204, any).end()
      })
      await once(other.listen(0, '127.0.0.1'), 'listening')
      try {
        const { port } = other.address() as AddressInfo
        await start()
        fault({ status, location: `http://127.0.0.1:${port}/elsewhere` })
        await sender.log(tap, { n: 1 })
        await drainLogs(1)
        expect(seen.length === 0, () => `another server got ${seen.join(', ')}`)
      } finally {
        other.closeAllConnections()
        other.close()
      }
    },
  }
}

/** The gateway refuses `version_code`, because it must be an integer. */
export const wrongDevice = { version_code: '1.2', product: 'kept' }

const revoked: Fault = { status: 401 }
const suspended: Fault = { status: 403, code: 'key_suspended' }

const noise = 'noise'
const droppedMin = 20
/** A little more than the five minutes for which a name is left out. */
const pauseMs = 310_000

/** Logs twenty events of a name that a rule of the operator drops, and waits for the response. */
async function untilDropped(trial: Trial): Promise<void> {
  const { start, fault, sender, drain, settle } = trial
  await start()
  fault({ dropEntries: { indexes: Array.from({ length: droppedMin }, (_, index) => index) } })
  await sender.logs(noise, droppedMin)
  await drain('they are sent', () => countSent(trial, noise) === droppedMin)
  await settle()
}

/** How many events with this name were sent, each counted once. */
const countSent = ({ attempts }: Trial, name: string): number =>
  new Set(
    attempts().flatMap(({ events }) =>
      events.filter(({ event }) => event === name).map(({ id }) => id),
    ),
  ).size

export const refusals: ConformanceCase[] = [
  isFinal('does not repeat a 400, and sends the rest', { status: 400 }),
  isFinal('does not repeat a 415, and sends the rest', { status: 415 }),
  isFinal('does not repeat a 422, and sends the rest', { status: 422 }),
  isFinal('does not repeat a 4xx that it does not know, and sends the rest', {
    status: 499,
    code: 'new_code',
  }),
  {
    title: 'keeps what a proxy refuses',
    async run({ start, fault, sender, drainLogs }) {
      await start()
      fault({ status: 409 })
      await sender.log(tap, { n: 1 })
      await drainLogs(1)
    },
  },
  {
    title: 'does not repeat a 403',
    async run(trial) {
      const { start, fault, sender } = trial
      await start()
      fault({ status: 403 })
      await sender.log(tap, { n: 1 })
      await untilFirstEnded(trial)
      for (const n of [2, 3, 4]) {
        await sender.log(tap, { n })
        await sender.flush(500)
      }
      expectAttempts(trial, 1, 1)
    },
  },
  rejects(
    'takes a code that nobody knows as final for that entry, and sends the rest',
    'quota_of_tomorrow',
    (trial) => {
      for (const n of [1, 3]) expectAttempts(trial, n, 1)
    },
  ),
  rejects('does not repeat a rejected entry', 'invalid_request', (trial) => {
    for (const n of [1, 3]) expectAttempts(trial, n, 1)
  }),
  rejects('does not repeat the accepted entries of a batch', 'invalid_request', (trial) => {
    for (const n of [0, 2, 4]) {
      expectAttempts(trial, n, 1)
      trial.expect(trial.stored(n).length === 1, () => `event ${n} is not stored`)
    }
  }),
  {
    title: 'does not repeat an entry that the operator drops',
    needs: ['batch'],
    async run(trial) {
      const { start, fault, sender, drain, settle, stored } = trial
      await start()
      fault({ dropEntries: { indexes: [1, 3] } })
      await sender.logs(tap, 5)
      await untilFirstEnded(trial)
      await sender.log(tap, { n: 5 })
      await drain('the next event is stored', () => stored(5).length === 1)
      await settle()
      for (const n of [1, 3]) expectAttempts(trial, n, 1)
    },
  },
  {
    title: 'leaves out a name of which twenty events were dropped, and takes no number for it',
    needs: ['batch', 'leavesOut'],
    async run(trial) {
      const { sender, drain, settle, stored, expect } = trial
      await untilDropped(trial)
      await sender.logs(noise, 5)
      await sender.log(tap, { n: 1 })
      await drain('the next event is stored', () => stored(1).length === 1)
      await settle()
      const sent = countSent(trial, noise)
      expect(sent === droppedMin, () => `${sent} events of the dropped name were sent`)
      const { sequence } = (stored(1)[0]?.extra as { log?: { sequence?: number } })?.log ?? {}
      const isNext = sequence === undefined || sequence === droppedMin + 1
      expect(isNext, () => `the event after ${droppedMin} has the number ${sequence}`)
    },
  },
  {
    title: 'asks after five minutes with one event whether its name is still dropped',
    needs: ['batch', 'clock', 'leavesOut'],
    async run(trial) {
      const { sender, fault, drain, settle, until, expect } = trial
      await untilDropped(trial)
      await sender.clock(pauseMs)
      fault({ dropEntries: {}, path: '/api/log/batch' })
      await sender.logs(noise, 3)
      await drain('it asks', () => countSent(trial, noise) > droppedMin)
      await settle()
      const asked = countSent(trial, noise) - droppedMin
      expect(asked === 1, () => `it asked with ${asked} events`)
      await sender.clock(2 * pauseMs)
      await sender.log(noise, { n: 7 })
      await drain('it asks again', () => trial.stored(7, noise).length === 1)
      await settle()
      await sender.logs(noise, 3)
      await drain('it sends the name again', () => trial.stored(2, noise).length === 1)
      await until('nothing is missing', () => countSent(trial, noise) === droppedMin + 5)
    },
  },
  {
    title: 'loses no event for a property of its device that is refused',
    needs: ['device'],
    async run({ start, sender, drainLogs, stored, expect }) {
      await start({ device: wrongDevice })
      await sender.log(tap, { n: 0 })
      await drainLogs(1)
      const { device } = stored(0)[0] ?? {}
      expect(device?.['product'] === 'kept', () => `its device is ${JSON.stringify(device)}`)
    },
  },
  staysAt(302),
  staysAt(307),
  stopsFor('stops when its key is revoked', revoked),
  keepsThrough('keeps everything when its key is revoked, and sends it with a new one', revoked),
  stopsFor('sends nothing for some minutes when its key is suspended', suspended),
  keepsThrough('keeps everything while its key is suspended, and sends it later', suspended),
  {
    title: 'does not send an id again that is out of range',
    async run(trial) {
      const { start, fault, sender, drain, settle, stored, attempts, expect } = trial
      await start()
      fault({ clockOffsetMs: -3 * day })
      const id = await sender.log(tap, { n: 1 })
      await untilFirstEnded(trial)
      fault({ clockOffsetMs: 0 })
      await sender.log(tap, { n: 2 })
      await drain('the next event is stored', () => stored(2).length === 1)
      await settle()
      const sent = attempts().filter(({ events }) => events.some((one) => one.id === id))
      expect(sent.length === 1, () => `the id was sent ${sent.length} times`)
    },
  },
]
