import { gzipSync } from 'node:zlib'
import { batchOfDevice, batchText, logText, mebibyte } from '../attack/bodies.ts'
import { hostileCase } from '../hostile-case.ts'
import { entry, gzipped, judge, same } from './costly.ts'

const entriesOf = (text: string) => Array.from({ length: 500 }, () => text).join(',')

export const costlyBatches = [
  hostileCase({
    id: 'd8',
    title: 'one key: batches of 500 entries with a device of 30 KB, four at a time',
    attack: same({
      lanes: 4,
      pauseMs: 2_000,
      path: '/api/log/batch',
      body: () => batchOfDevice({ os: 'Android', big: 'x'.repeat(30_000) }, entriesOf(entry)),
    }),
    judge,
  }),
  hostileCase({
    id: 'd9',
    title: 'one key: batches of 500 entries with 800 `params` each, two at a time',
    attack: same({
      lanes: 2,
      pauseMs: 1_000,
      path: '/api/log/batch',
      headers: gzipped,
      body: () => {
        const params = () =>
          Array.from({ length: 800 }, (_, index) => `"p${index}":${Math.random().toFixed(6)}`)
        const entries = Array.from(
          { length: 500 },
          () => `{"event":"a","params":{${params().join(',')}}}`,
        )
        return gzipSync(batchText(entries.join(',')))
      },
    }),
    judge,
  }),
  hostileCase({
    id: 'd13',
    title: 'one key: batches of 4 MB of empty gzip members, four at a time',
    attack: same({
      lanes: 4,
      path: '/api/log/batch',
      headers: gzipped,
      body: () => {
        const empty = gzipSync('')
        const count = Math.floor((3.9 * mebibyte) / empty.length)
        const members = Array.from({ length: count }, () => empty)
        return Buffer.concat([gzipSync(batchText(entry)), ...members])
      },
    }),
    judge,
  }),
  hostileCase({
    id: 'd14',
    title: 'one key: batches with 500 ids that repeat and differ in content, four at a time',
    attack: same({
      lanes: 4,
      path: '/api/log/batch',
      body: () => {
        const id = '0b000000-0000-4000-8000-000000000000'
        const entries = Array.from(
          { length: 500 },
          (_, index) => `{"event":"${index}","id":"${id}"}`,
        )
        return batchText(entries.join(','))
      },
    }),
    judge,
  }),
  hostileCase({
    id: 'd15',
    title: 'one key: valid events of 1 MB, eight at a time',
    attack: same({
      lanes: 8,
      pauseMs: 100,
      path: '/api/log',
      body: () => logText(`{"a":"${'text '.repeat(200_000)}"}`),
    }),
    judge,
  }),
]
