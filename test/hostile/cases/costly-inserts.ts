import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { batchText, list, logText, manyMembers, mebibyte, noise } from '../attack/bodies.ts'
import { costly } from './costly.ts'

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
 * Cases with rows that are small on the wire, but cause much work in the worker or in ClickHouse.
 */
export const costlyInserts = [
  costly({
    id: 'w1',
    title: 'one key: 256 events of 1 MiB that compress to 6 KB, while ClickHouse is frozen',
    whileClickHouseIsFrozen: true,
    sentMin: 200,
    visibleMsMax,
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
    title: 'one key: batches whose 1,500 unknown fields every one of 105 events would repeat',
    visibleMsMax,
    isFresh: true,
    lanes: 1,
    pauseMs: 1_000,
    path: '/api/log/batch',
    body: () => {
      const name = randomUUID().slice(0, 8)
      const fields = Array.from({ length: 1_500 }, (_, n) => `"${name}${n}":[{"a":[{"b":1}]}]`)
      const entries = list('{"event":"e"}', 105 * 14)
      return gzipSync(batchText(entries, `,"x":{${fields.join(',')}}`))
    },
  }),
  costly({
    id: 'w5',
    title: 'one key: batches of six arrays of a number and 4,800 objects, one a second',
    visibleMsMax,
    lanes: 1,
    pauseMs: 1_000,
    path: '/api/log/batch',
    body: () => {
      const objects = Array.from({ length: 4_800 }, (_, index) => `{"k${index % 300}":1}`)
      const entry = `{"event":"a","params":{"a":[1,${objects.join(',')}]}}`
      return gzipSync(batchText(Array.from({ length: 6 }, () => entry).join(',')))
    },
  }),
]
