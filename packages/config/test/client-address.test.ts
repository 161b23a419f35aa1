import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { createAddressOf } from '../src/client-address.ts'
import { parseTrustProxy } from '../src/trust-proxy.ts'

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage

const cases: [
  trust: string | undefined,
  from: string,
  forwarded: string | undefined,
  is: string,
][] = [
  [undefined, '192.0.2.1', undefined, '192.0.2.1'],
  [undefined, '192.0.2.1', '203.0.113.9', '192.0.2.1'],
  [undefined, '::ffff:192.0.2.1', undefined, '192.0.2.1'],
  ['1', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['1', '10.0.0.1', '198.51.100.7, 203.0.113.9', '203.0.113.9'],
  ['2', '10.0.0.1', '198.51.100.7, 203.0.113.9', '198.51.100.7'],
  ['9', '10.0.0.1', '198.51.100.7, 203.0.113.9', '198.51.100.7'],
  ['1', '10.0.0.1', undefined, '10.0.0.1'],
  ['1', '10.0.0.1', 'unknown', '10.0.0.1'],
  ['1', '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
  ['1', '10.0.0.1', '[2001:db8::1]:4711', '2001:db8:0:0'],
  ['10.0.0.0/8', '10.0.0.1', '203.0.113.9, 10.1.1.1', '203.0.113.9'],
  ['10.0.0.0/8', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
  ['10.0.0.0/8', '10.0.0.1', '10.1.1.12', '10.1.1.12'],
  ['fd00::7', 'fd00::8', '203.0.113.9', 'fd00:0:0:0'],
  ['10.0.0.0/8,fd00::/8', 'fd00::7', '203.0.113.9,10.0.0.2', '203.0.113.9'],
  ['10.0.0.0/8', '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
  [undefined, '2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2'],
  [undefined, '2001:db8:1:2:ffff::', undefined, '2001:db8:1:2'],
  [undefined, '2001:db8::6', undefined, '2001:db8:0:0'],
  [undefined, '::1', undefined, '0:0:0:0'],
  [undefined, '1::2:3:4:5:6:7', undefined, '1:0:2:3'],
  ['1', '10.0.0.1', '2001:0DB8:0001:0002::9', '2001:db8:1:2'],
  ['1', '10.0.0.1', '64:ff9b::192.0.2.33', '64:ff9b:0:0'],
]

for (const [trust, from, forwarded, is] of cases) {
  t.test(
    `${from} for ${forwarded ?? 'itself'}, with TRUST_PROXY ${trust ?? 'unset'}`,
    async (t) => {
      t.equal(createAddressOf(parseTrustProxy(trust))(request(from, forwarded)), is)
    },
  )
}

t.test('a TRUST_PROXY that cannot be meant is refused', async (t) => {
  for (const wrong of [
    '',
    'true',
    '-1',
    '10.0.0.0/33',
    '10.0.0.0/',
    'fd00::/129',
    'proxy',
    '10.0.0.1,,',
    '10.0.0.0/8/9',
  ]) {
    t.throws(() => parseTrustProxy(wrong), { message: /^TRUST_PROXY must be/ }, wrong)
  }
})
