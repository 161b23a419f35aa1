import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { batchText, list, logText, manyMembers, mebibyte, noise } from '../attack/bodies.ts'
import { flood } from '../attack/flood.ts'
import { hostileCase } from '../hostile-case.ts'
import { gzipped, judge, same } from './costly.ts'

/** An event becomes visible within this time, however busy others keep the worker and ClickHouse. */
const visibleMsMax = 30_000

/** Just enough noise for a body that expands to this many bytes: 200 times its size is allowed. */
const incompressible = (bytes: number) => noise(Math.ceil(bytes / 130))

/** Rows that cost the worker or ClickHouse much more than their bytes on the wire. */
export const costlyInserts = [
  hostileCase({
    id: 'w1',
    title: 'one key: 256 events of 1 MiB that compress to 6 KB, while ClickHouse is frozen',
    whileClickHouseIsFrozen: true,
    sentMin: 200,
    visibleMsMax,
    attack: same({
      lanes: 8,
      pauseMs: 300,
      path: '/api/log',
      headers: gzipped,
      body: () => {
        const text = `${incompressible(mebibyte)}${'x'.repeat(mebibyte - 20_000)}`
        return gzipSync(logText(JSON.stringify({ text })))
      },
    }),
    judge,
  }),
  hostileCase({
    id: 'w2',
    title: 'one key: batches of 15 MiB that compress, one a second, while ClickHouse is frozen',
    whileClickHouseIsFrozen: true,
    visibleMsMax,
    attack: same({
      lanes: 1,
      pauseMs: 800,
      path: '/api/log/batch',
      headers: gzipped,
      body: () => {
        const text = `${incompressible(500_000)}${'x'.repeat(495_000)}`
        const params = JSON.stringify({ text })
        return gzipSync(batchText(list(`{"event":"a","params":${params}}`, 15 * mebibyte)))
      },
    }),
    judge,
  }),
  hostileCase({
    id: 'w3',
    title: 'one key: events with 9,000 unique names in `params`, four at a time',
    visibleMsMax,
    attack: (attacker) =>
      flood(attacker, {
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
    judge,
  }),
]
