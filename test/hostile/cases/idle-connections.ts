import { holdConnections, type Held } from '../attack/hold.ts'
import { head, json } from '../attack/http-text.ts'
import { hostileCase, type Attacker, type Expect } from '../hostile-case.ts'

/** The number of connections, a few more than the gateway accepts. */
const connections = 2_050

const holdAll = (greeting: string) => (attacker: Attacker) =>
  holdConnections(attacker, { connections, greeting })
const judge = ({ openMax }: Held, expect: Expect) =>
  expect(openMax > connections / 2, `the attack holds most connections (${openMax})`)

export const idleConnections = [
  hostileCase({
    id: 'b1',
    title: 'no key: 2,050 connections, one request each, then silence; reopened when closed',
    attack: holdAll(head('GET /healthz')),
    judge,
  }),
  hostileCase({
    id: 'b5',
    title: 'no key: 500 connections that send one byte of their header a second',
    attack: (attacker) =>
      holdConnections(attacker, {
        connections: 500,
        greeting: 'POST /api/log HTTP/1.1\r\nhost: intake\r\nx-slow: ',
        trickle: 'a',
      }),
  }),
  hostileCase({
    id: 'b6',
    title: 'a key: 2,050 connections that declare 300 KB and send nothing; reopened when closed',
    attack: (attacker) =>
      holdConnections(attacker, {
        connections,
        greeting: head('POST /api/log', {
          ...json,
          'x-api-key': attacker.apiKey,
          'content-length': 300_000,
        }),
      }),
    judge,
  }),
]
