import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { batchText, list, logText, manyMembers, mebibyte, noise } from '../attack/bodies.ts'
import type { Tally } from '../attack/exchange.ts'
import { flood } from '../attack/flood.ts'
import { hostileCase, type HostileCase } from '../hostile-case.ts'

/** The smallest entry of a batch. */
const entry = '{"event":"a"}'

interface Traffic {
  lanes: number
  pauseMs?: number
  path: '/api/log' | '/api/log/batch'
  /** The body of the next request. A buffer is sent as gzip. */
  body: () => Buffer | string
  /**
   * The status of a request that got as far as its cost. Most requests must get it: an earlier
   * refusal costs nothing, whatever the body is.
   */
  reaches: number
  /** True if each request gets a new body; otherwise all requests get the same body. */
  isFresh?: boolean
}

/**
 * A case in which one key sends costly requests. No request may get a 5xx other than 503, wait for
 * its response until the timeout of the client, or lose its connection without a response.
 */
function costly(definition: Omit<HostileCase<Tally>, 'attack' | 'judge'> & Traffic): HostileCase {
  const { lanes, pauseMs = 0, path, body, isFresh = false, reaches, ...about } = definition
  return hostileCase({
    ...about,
    attack(attacker) {
      const first = body()
      const headers = typeof first === 'string' ? {} : { 'content-encoding': 'gzip' }
      return flood(attacker, { lanes, pauseMs, path, headers, body: isFresh ? body : () => first })
    },
    judge({ sent, broken, silent, lost, unended, [reaches]: reached = 0 }, expect) {
      expect(broken === 0, `no 500 (${broken})`)
      expect(silent === 0, `every request has a response (${silent} have none)`)
      expect(lost === 0, `no connection closes without a response (${lost})`)
      const ended = sent - unended
      expect(reached > ended / 2, `most get ${reaches} (${reached} of ${ended})`)
    },
  })
}

/**
 * A body that contains 15 MB of repeated `text`. Compressed it has 165 KB, so it expands 90 times.
 * The gateway would refuse it at 200 times.
 */
function expanding(text: string): Buffer {
  const content = `,"junk":[${list(text, 15_000_000)}],"pad":"${noise(200_000)}"`
  return gzipSync(batchText(entry, content))
}

/**
 * An event must become visible within this time, even while other senders keep the worker and
 * ClickHouse busy.
 */
const visibleMsMax = 30_000

/**
 * Noise to be added to a text of `bytes` bytes: one character for 130 bytes. With this noise, the
 * compressed text expands less than 200 times. The gateway refuses a body that expands 200 times.
 */
const noiseFor = (bytes: number) => noise(Math.ceil(bytes / 130))

/**
 * Requests that are small on the wire and cost the gateway much (d), or the worker and ClickHouse
 * (w).
 */
export const costlyRequests = [
  costly({
    id: 'd1',
    title: 'one key: batches of 165 KB gzip with 15 MB of `{}`, two at a time',
    reaches: 413,
    lanes: 2,
    path: '/api/log/batch',
    body: () => expanding('{}'),
  }),
  costly({
    id: 'd9',
    title: 'one key: batches of 500 entries with 100 `params` each, two at a time',
    reaches: 207,
    lanes: 2,
    pauseMs: 1_000,
    path: '/api/log/batch',
    body: () => {
      const params = () =>
        Array.from({ length: 100 }, (_, index) => `"p${index}":${Math.random().toFixed(6)}`)
      const entries = Array.from(
        { length: 500 },
        () => `{"event":"a","params":{${params().join(',')}}}`,
      )
      return gzipSync(batchText(entries.join(',')))
    },
  }),
  costly({
    id: 'd13',
    title: 'one key: batches of 4 MB of empty gzip members, four at a time',
    reaches: 207,
    lanes: 4,
    path: '/api/log/batch',
    body: () => {
      const empty = gzipSync('')
      const count = Math.floor((3.9 * mebibyte) / empty.length)
      const members = Array.from({ length: count }, () => empty)
      return Buffer.concat([gzipSync(batchText(entry)), ...members])
    },
  }),
  costly({
    id: 'd21',
    title: 'one key: batches of 500 entries with random UUIDv4 ids, 32 at a time',
    isFresh: true,
    reaches: 207,
    lanes: 32,
    path: '/api/log/batch',
    body: () => {
      const entries = Array.from({ length: 500 }, () => `{"event":"a","id":"${randomUUID()}"}`)
      return batchText(entries.join(','))
    },
  }),
  costly({
    id: 'w1',
    title: 'one key: 256 events of 1 MiB that compress to 6 KB, while ClickHouse is frozen',
    whileClickHouseIsFrozen: true,
    sentMin: 200,
    visibleMsMax,
    reaches: 201,
    lanes: 8,
    pauseMs: 300,
    path: '/api/log',
    body: () => {
      const text = `${noiseFor(mebibyte)}${'x'.repeat(mebibyte - 20_000)}`
      return gzipSync(logText(JSON.stringify({ text })))
    },
  }),
  costly({
    id: 'w3',
    title: 'one key: events with 9,000 unique names in `params`, four at a time',
    visibleMsMax,
    reaches: 201,
    isFresh: true,
    lanes: 4,
    pauseMs: 400,
    path: '/api/log',
    body: () => {
      const name = randomUUID().slice(0, 8)
      let count = 0
      const params = manyMembers(9_000 * 18, (index) => {
        count++
        return `"${name}${index}":${count}`
      })
      return logText(params)
    },
  }),
  costly({
    id: 'w6',
    title:
      'one key: batches whose 110 unknown fields every one of 100 events repeats, five a second',
    visibleMsMax,
    reaches: 207,
    isFresh: true,
    lanes: 1,
    pauseMs: 200,
    path: '/api/log/batch',
    body: () => {
      const name = randomUUID().slice(0, 8)
      const fields = Array.from({ length: 110 }, (_, n) => `"${name}${n}":[{"a":[{"b":1}]}]`)
      const entries = list('{"event":"e"}', 100 * 14)
      return gzipSync(batchText(entries, `,"x":{${fields.join(',')}}`))
    },
  }),
]
