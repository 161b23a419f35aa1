import { gzipSync } from 'node:zlib'
import {
  batchOfDevice,
  batchText,
  list,
  logText,
  manyMembers,
  mebibyte,
  noise,
} from '../attack/bodies.ts'
import type { Tally } from '../attack/exchange.ts'
import { flood } from '../attack/flood.ts'
import { hostileCase, type Attacker, type Expect } from '../hostile-case.ts'

const gzipped = { 'content-encoding': 'gzip' }
const entry = '{"event":"a"}'
const entriesOf = (text: string) => Array.from({ length: 500 }, () => text).join(',')

/** 15 MB of `text` that take 165 KB on the wire: just below what may expand a hundredfold. */
function expanding(text: string): Buffer {
  const content = `,"junk":[${list(text, 15_000_000)}],"pad":"${noise(200_000)}"`
  return gzipSync(batchText(entry, content))
}

/** An event that is refused in the end, so that no worker has anything to do with it. */
const bad = (params: string) => logText(params, ',"device_uuid":0')

/** The same body again and again. */
const same =
  (options: {
    lanes: number
    path: string
    body: () => Buffer | string
    headers?: Record<string, string>
    pauseMs?: number
  }) =>
  (attacker: Attacker) => {
    const body = options.body()
    return flood(attacker, { ...options, body: () => body })
  }

function judge(
  { broken, silent, accepted, refused, unavailable, throttled }: Tally,
  expect: Expect,
) {
  expect(broken === 0, `no 500 (${broken})`)
  expect(silent === 0, `every request has a response (${silent} have none)`)
  expect(accepted + refused + unavailable + throttled > 0, 'there are responses')
}

export const costlyJson = [
  hostileCase({
    id: 'd1',
    title: 'one key: batches of 165 KB gzip with 15 MB of `{}`, six at a time',
    quick: true,
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
    id: 'd8',
    title: 'one key: batches of 500 entries with a device of 30 KB, four at a time',
    attack: same({
      lanes: 4,
      pauseMs: 500,
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
    title: 'one key: bad events with 1 MB of keys that are escaped, eight at a time',
    attack: same({
      lanes: 8,
      path: '/api/log',
      body: () => bad(manyMembers(1_000_000, (index) => `"\\u0061\\\\${index}":1`)),
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
