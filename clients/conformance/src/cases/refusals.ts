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
function isFinal(title: string, status: number): ConformanceCase {
  return {
    title,
    async run(trial) {
      const { start, fault, sender, drain, settle, stored } = trial
      await start()
      fault({ status })
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

const revoked: Fault = { status: 401 }
const suspended: Fault = { status: 403, code: 'key_suspended' }

export const refusals: ConformanceCase[] = [
  isFinal('does not repeat a 400, and sends the rest', 400),
  isFinal('does not repeat a 415, and sends the rest', 415),
  isFinal('does not repeat a 422, and sends the rest', 422),
  isFinal('does not repeat a 4xx that it does not know, and sends the rest', 499),
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
  staysAt(302),
  staysAt(307),
  stopsFor('stops when its key is revoked', revoked),
  keepsThrough('keeps everything when its key is revoked, and sends it with a new one', revoked),
  stopsFor('stops when its key is suspended', suspended),
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
