import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { batchOfDevice, batchText, list, mebibyte, noise } from '../attack/bodies.ts'
import { costly, entry } from './costly.ts'

const entriesOf = (text: string) => Array.from({ length: 500 }, () => text).join(',')

export const costlyBatches = [
  costly({
    id: 'd8',
    title: 'one key: batches of 500 entries with a device of 30 KB, four at a time',
    lanes: 4,
    pauseMs: 2_000,
    path: '/api/log/batch',
    body: () => batchOfDevice({ os: 'Android', big: 'x'.repeat(30_000) }, entriesOf(entry)),
  }),
  costly({
    id: 'd9',
    title: 'one key: batches of 500 entries with 800 `params` each, two at a time',
    lanes: 2,
    pauseMs: 1_000,
    path: '/api/log/batch',
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
  costly({
    id: 'd13',
    title: 'one key: batches of 4 MB of empty gzip members, four at a time',
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
    id: 'd14',
    title: 'one key: batches of 500 entries with the same id and different content, four at a time',
    repeatsIds: true,
    lanes: 4,
    path: '/api/log/batch',
    body: () => {
      const id = '0b000000-0000-4000-8000-000000000000'
      const entries = Array.from({ length: 500 }, (_, index) => `{"event":"${index}","id":"${id}"}`)
      return batchText(entries.join(','))
    },
  }),
  costly({
    id: 'd21',
    title: 'one key: batches of 500 entries with random UUIDv4 ids, 32 at a time',
    isFresh: true,
    lanes: 32,
    path: '/api/log/batch',
    body: () => {
      const entries = Array.from({ length: 500 }, () => `{"event":"a","id":"${randomUUID()}"}`)
      return batchText(entries.join(','))
    },
  }),
  costly({
    id: 'd23',
    title:
      'one key: batches of 39 KB with a random device of 33 KB and 490 entries, three at a time',
    isFresh: true,
    lanes: 3,
    path: '/api/log/batch',
    body: () =>
      gzipSync(
        batchOfDevice({ os: 'Android', big: noise(33_000) }, list(entry, 490 * (entry.length + 1))),
      ),
  }),
]
