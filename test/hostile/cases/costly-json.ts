import { gzipSync } from 'node:zlib'
import { uuidV7 } from '../../faults/kit/payload.ts'
import { batchText, list, logText, manyMembers, noise } from '../attack/bodies.ts'
import { hostileCase } from '../hostile-case.ts'
import { entry, gzipped, judge, same } from './costly.ts'

/** 15 MB of `text` in 165 KB on the wire: just below the limit for expanding a hundredfold. */
function expanding(text: string): Buffer {
  const content = `,"junk":[${list(text, 15_000_000)}],"pad":"${noise(200_000)}"`
  return gzipSync(batchText(entry, content))
}

/** An event that is refused in the end, so that it causes no work for the worker. */
const bad = (params: string) => logText(params, ',"device_uuid":0')

export const costlyJson = [
  hostileCase({
    id: 'd1',
    title: 'one key: batches of 165 KB gzip with 15 MB of `{}`, six at a time',
    attack: same({
      lanes: 6,
      path: '/api/log/batch',
      headers: gzipped,
      body: () => expanding('{}'),
    }),
    judge,
  }),
  hostileCase({
    id: 'd2',
    title: 'one key: the same with `[]`',
    attack: same({
      lanes: 6,
      path: '/api/log/batch',
      headers: gzipped,
      body: () => expanding('[]'),
    }),
    judge,
  }),
  hostileCase({
    id: 'd3',
    title: 'one key: batches of 4 MB of distinct keys, four at a time',
    attack: same({
      lanes: 4,
      path: '/api/log/batch',
      body: () => {
        const members = manyMembers(4_000_000, (index) => `"${index.toString(36)}":0`)
        return batchText(entry, `,"junk":${members}`)
      },
    }),
    judge,
  }),
  hostileCase({
    id: 'd4',
    title: 'one key: events of 1.2 KB gzip that inflate to 1 MB of `{}`, 16 at a time',
    attack: same({
      lanes: 16,
      path: '/api/log',
      headers: gzipped,
      body: () => gzipSync(logText('{}', `,"junk":[${list('{}', 1_000_000)}]`)),
    }),
    judge,
  }),
  hostileCase({
    id: 'd5',
    title: 'one key: events of 1.2 KB gzip that inflate to 1 MB of spaces, 16 at a time',
    attack: same({
      lanes: 16,
      path: '/api/log',
      headers: gzipped,
      body: () => gzipSync(`${' '.repeat(1_000_000)}${logText()}`),
    }),
    judge,
  }),
  hostileCase({
    id: 'd6',
    title: 'one key: 1 MB of `[` and `]`, nested half a million deep, eight at a time',
    attack: same({
      lanes: 8,
      path: '/api/log',
      body: () => logText(`{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`),
    }),
    judge,
  }),
  hostileCase({
    id: 'd7',
    title: 'one key: 1 MB of `{"a":` that never ends, eight at a time',
    attack: same({
      lanes: 8,
      path: '/api/log',
      body: () => logText('{"a":'.repeat(200_000)),
    }),
    judge,
  }),
  hostileCase({
    id: 'd10',
    title: 'one key: bad events with 1 MB of long digit runs, eight at a time',
    attack: same({
      lanes: 8,
      path: '/api/log',
      body: () => bad(manyMembers(1_000_000, (index) => `"p${index}":${'123456789'.repeat(3)}`)),
    }),
    judge,
  }),
  hostileCase({
    id: 'd11',
    title: 'one key: events with one number of 1 MB, eight at a time',
    attack: same({
      lanes: 8,
      path: '/api/log',
      body: () => logText(`{"a":${'1'.repeat(1_000_000)}}`),
    }),
    judge,
  }),
  hostileCase({
    id: 'd12',
    title: 'one key: bad events with 1 MB of escaped keys, eight at a time',
    attack: same({
      lanes: 8,
      path: '/api/log',
      body: () => bad(manyMembers(1_000_000, (index) => `"\\u0061\\\\${index}":1`)),
    }),
    judge,
  }),
  hostileCase({
    id: 'd16',
    title: 'one key: events of 1 MB with an escape in a name, 50 at a time',
    attack: same({
      lanes: 50,
      path: '/api/log',
      body: () => bad(`{"\\u0061":"${'x'.repeat(1_000_000)}"}`),
    }),
    judge,
  }),
  hostileCase({
    id: 'd17',
    title:
      'one key: events of 1 KB gzip that inflate to 60 KB with escapes in names, 300 at a time',
    attack: same({
      lanes: 300,
      path: '/api/log',
      headers: gzipped,
      body: () => gzipSync(bad(`{"\\u0061":"${'x'.repeat(60_000)}"}`)),
    }),
    judge,
  }),
  hostileCase({
    id: 'd18',
    title: 'one key: batches of 6 KB gzip with an unknown field of 1 MB beside 500 entries',
    attack: same({
      lanes: 4,
      path: '/api/log/batch',
      headers: gzipped,
      body: () =>
        gzipSync(
          batchText(
            list(entry, 500 * entry.length),
            `,"x":"${noise(7_000)}${'x'.repeat(1_000_000)}"`,
          ),
        ),
    }),
    judge,
  }),
  hostileCase({
    id: 'd19',
    title: 'one key: batches of 80 KB gzip with 499 repeats of an id whose first entry has 14 MB',
    repeatsIds: true,
    attack: same({
      lanes: 2,
      path: '/api/log/batch',
      headers: gzipped,
      body: () => {
        const id = uuidV7(Date.now(), 1)
        const first = `{"id":"${id}","event":"a","params":{"x":"${noise(90_000)}${'x'.repeat(14_000_000)}"}}`
        const repeats = Array.from({ length: 499 }, () => `{"id":"${id}","event":"a"}`)
        return gzipSync(batchText([first, ...repeats].join(',')))
      },
    }),
    judge,
  }),
]
