import { gzipSync } from 'node:zlib'
import { uuidV7 } from '../../faults/kit/payload.ts'
import { batchText, list, logText, manyMembers, noise } from '../attack/bodies.ts'
import { costly, entry } from './costly.ts'

/**
 * A body that contains 15 MB of repeated `text`. Compressed it has 165 KB, so it expands 90 times.
 * The gateway would refuse it at 200 times.
 */
function expanding(text: string): Buffer {
  const content = `,"junk":[${list(text, 15_000_000)}],"pad":"${noise(200_000)}"`
  return gzipSync(batchText(entry, content))
}

/** An event that the gateway refuses after parsing it, so that it causes no work for the worker. */
const bad = (params: string) => logText(params, ',"device_uuid":0')

export const costlyJson = [
  costly({
    id: 'd1',
    title: 'one key: batches of 165 KB gzip with 15 MB of `{}`, six at a time',
    lanes: 6,
    path: '/api/log/batch',
    body: () => expanding('{}'),
  }),
  costly({
    id: 'd3',
    title: 'one key: batches of 4 MB of distinct keys, four at a time',
    lanes: 4,
    path: '/api/log/batch',
    body: () => {
      const members = manyMembers(4_000_000, (index) => `"${index.toString(36)}":0`)
      return batchText(entry, `,"junk":${members}`)
    },
  }),
  costly({
    id: 'd6',
    title: 'one key: 1 MB of `[` and `]`, nested half a million deep, eight at a time',
    lanes: 8,
    path: '/api/log',
    body: () => logText(`{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`),
  }),
  costly({
    id: 'd10',
    title: 'one key: bad events with 1 MB of long digit runs, eight at a time',
    lanes: 8,
    path: '/api/log',
    body: () => bad(manyMembers(1_000_000, (index) => `"p${index}":${'123456789'.repeat(3)}`)),
  }),
  costly({
    id: 'd18',
    title: 'one key: batches of 6 KB gzip with an unknown field of 1 MB beside 500 entries',
    lanes: 4,
    path: '/api/log/batch',
    body: () =>
      gzipSync(
        batchText(
          list(entry, 500 * entry.length),
          `,"x":"${noise(7_000)}${'x'.repeat(1_000_000)}"`,
        ),
      ),
  }),
  costly({
    id: 'd19',
    title: 'one key: batches of 80 KB gzip with 499 repeats of an id whose first entry has 14 MB',
    repeatsIds: true,
    lanes: 2,
    path: '/api/log/batch',
    body: () => {
      const id = uuidV7(Date.now(), 1)
      const first = `{"id":"${id}","event":"a","params":{"x":"${noise(90_000)}${'x'.repeat(14_000_000)}"}}`
      const repeats = Array.from({ length: 499 }, () => `{"id":"${id}","event":"a"}`)
      return gzipSync(batchText([first, ...repeats].join(',')))
    },
  }),
]
