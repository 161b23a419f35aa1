import { randomBytes } from 'node:crypto'
import { logText, mebibyte } from '../attack/bodies.ts'
import { createTally, exchange, type Tally } from '../attack/exchange.ts'
import { head, json, request } from '../attack/http-text.ts'
import { repeat } from '../attack/loops.ts'
import { hostileCase, type Attacker, type Expect } from '../hostile-case.ts'

/** Sends each of the texts in turn over a new connection. */
function sendInTurn(options: {
  lanes: number
  pauseMs: number
  all: (key: string) => (string | Buffer)[]
}) {
  return async (attacker: Attacker): Promise<Tally> => {
    const { tally, start, end } = createTally()
    const all = options.all(attacker.apiKey)
    let next = 0
    await repeat({ ...options, signal: attacker.signal }, async () => {
      start()
      end(await exchange(attacker, all[next++ % all.length] ?? '', { timeoutMs: 15_000 }))
    })
    return tally
  }
}

function judge({ silent, broken, accepted }: Tally, expect: Expect): void {
  expect(silent === 0, `each gets a response or is closed within 15 s (${silent} are not)`)
  expect(broken === 0, `no 500 (${broken})`)
  expect(accepted === 0, `none is accepted (${accepted})`)
}

export const protocol = [
  hostileCase({
    id: 'x4',
    title: 'no key: TLS, HTTP/2, upgrades to WebSocket and h2c, CONNECT, noise, bare line feeds',
    attack: sendInTurn({
      lanes: 8,
      pauseMs: 20,
      all: () => [
        Buffer.concat([Buffer.from('1603010200010001fc0303', 'hex'), randomBytes(508)]),
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        head('GET /api/log', {
          connection: 'upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': 13,
          'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        }),
        head('POST /api/log', { connection: 'upgrade, http2-settings', upgrade: 'h2c' }),
        head('CONNECT example.com:443'),
        randomBytes(1_000),
        'POST /api/log HTTP/1.1\nhost: intake\n\n',
        'POST /api/log\r\n\r\n',
        'POST /api/log HTTP/3.0\r\n\r\n',
        '\r\n'.repeat(10_000),
        '\0'.repeat(10_000),
      ],
    }),
    judge({ silent, broken }, expect) {
      expect(silent === 0, `each gets a response or is closed within 15 s (${silent} are not)`)
      expect(broken === 0, `no 500 (${broken})`)
    },
  }),
  hostileCase({
    id: 'x5',
    title: 'one key: smuggled requests: `Content-Length` with `Transfer-Encoding`, two lengths',
    attack: sendInTurn({
      lanes: 4,
      pauseMs: 50,
      all: (apiKey) => {
        const smuggled = request('POST /api/log', { ...json, 'x-api-key': apiKey }, logText())
        const first = { ...json, 'x-api-key': apiKey }
        const chunked = { 'transfer-encoding': 'chunked' }
        return [
          `${head('POST /api/log', { ...first, 'content-length': 4, ...chunked })}0\r\n\r\n${smuggled.toString()}`,
          `${head('POST /api/log', { ...first, ...chunked, 'content-length': 4 })}0\r\n\r\n${smuggled.toString()}`,
          `${head('POST /api/log', { ...first, 'content-length': 2, 'Content-Length': 4 })}{}${smuggled.toString()}`,
          `${head('POST /api/log', { ...first, 'transfer-encoding': 'xchunked' })}0\r\n\r\n${smuggled.toString()}`,
          `${head('POST /api/log', { ...first, 'transfer-encoding ': 'chunked' })}0\r\n\r\n${smuggled.toString()}`,
          `${head('POST /api/log', { ...first, 'content-length': '+2' })}{}${smuggled.toString()}`,
        ]
      },
    }),
    judge,
  }),
  hostileCase({
    id: 'x6',
    title: 'one key: a body of 512 KB in chunks of one byte, four at a time',
    attack: sendInTurn({
      lanes: 4,
      pauseMs: 100,
      all: (apiKey) => [
        head('POST /api/log', { ...json, 'x-api-key': apiKey, 'transfer-encoding': 'chunked' }) +
          '1\r\n \r\n'.repeat(512 * 1024) +
          '0\r\n\r\n',
      ],
    }),
    judge,
  }),
  hostileCase({
    id: 'x7',
    title: 'one key: chunk extensions of 1 MB, and 1 MB of trailer fields',
    attack: sendInTurn({
      lanes: 4,
      pauseMs: 100,
      all: (apiKey) => {
        const headers = { ...json, 'x-api-key': apiKey, 'transfer-encoding': 'chunked' }
        const start = head('POST /api/log', headers)
        return [
          `${start}1;${'a'.repeat(mebibyte)}\r\n \r\n0\r\n\r\n`,
          `${start}${`1;${'a'.repeat(2_000)}\r\n \r\n`.repeat(500)}0\r\n\r\n`,
          `${start}2\r\n{}\r\n0\r\n${'a: b\r\n'.repeat(150_000)}\r\n`,
        ]
      },
    }),
    judge,
  }),
]
