import { randomUUID } from 'node:crypto'
import { logText, mebibyte } from '../attack/bodies.ts'
import { connected, dial, ended, written } from '../attack/connection.ts'
import { createTally, exchange } from '../attack/exchange.ts'
import { flood } from '../attack/flood.ts'
import { head, json, request } from '../attack/http-text.ts'
import { repeat, wait } from '../attack/loops.ts'
import { hostileCase } from '../hostile-case.ts'

export const carelessClients = [
  hostileCase({
    id: 'x1',
    title: 'no key: 500 connections a second, opened and closed',
    sentMin: 500,
    async attack(attacker) {
      let sent = 0
      await repeat({ lanes: 25, pauseMs: 50, signal: attacker.signal }, async (lane) => {
        const socket = dial(attacker)
        if (!(await connected(socket))) return
        sent++
        if (lane % 2 === 0) socket.resetAndDestroy()
        else socket.end()
        socket.resume()
        await ended(socket)
      })
      return { sent }
    },
  }),
  hostileCase({
    id: 'x8',
    title: 'one key: events with a random `Idempotency-Key`, 32 at a time',
    attack: (attacker) =>
      flood(attacker, {
        lanes: 32,
        pauseMs: 30,
        path: '/api/log',
        body: () => logText(),
        vary: () => ({ 'idempotency-key': randomUUID() }),
      }),
    judge({ accepted, broken, silent, lost }, expect) {
      expect(accepted > 0, 'some events are accepted')
      const failed = broken + silent + lost
      expect(failed === 0, `no 500, no missing response (${failed})`)
    },
  }),
  hostileCase({
    id: 'x12',
    title: 'no key: 300 connections with 15 pipelined requests each, all read, then reopened',
    sentMin: 10_000,
    async attack(attacker) {
      const burst = Buffer.from(request('POST /api/log', json, '{}').toString().repeat(15))
      let sent = 0
      await repeat({ lanes: 300, signal: attacker.signal }, async () => {
        const socket = dial(attacker)
        if (!(await connected(socket))) return wait(100, attacker.signal)
        socket.resume()
        await written(socket, burst)
        sent += 15
        await ended(socket)
      })
      return { sent }
    },
  }),
  hostileCase({
    id: 'x13',
    title: 'no key: 1,500 connections with one request after another, all read',
    sentMin: 10_000,
    async attack(attacker) {
      const { sent } = await flood(attacker, {
        lanes: 1_500,
        path: '/api/log',
        headers: { 'x-api-key': 'wrong' },
        body: () => '{}',
      })
      return { sent }
    },
  }),
  hostileCase({
    id: 'x14',
    title: 'no key: CONNECT, then an immediate reset',
    sentMin: 500,
    async attack(attacker) {
      let sent = 0
      await repeat({ lanes: 4, pauseMs: 10, signal: attacker.signal }, async () => {
        const socket = dial(attacker)
        if (!(await connected(socket))) return wait(100, attacker.signal)
        socket.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')
        await wait(0, attacker.signal)
        socket.resetAndDestroy()
        sent++
      })
      return { sent }
    },
  }),
  hostileCase({
    id: 'x10',
    title: 'one key: clients that close their half of the connection after a valid event',
    async attack(attacker) {
      const { tally, start, end } = createTally()
      const headers = { ...json, 'x-api-key': attacker.apiKey, connection: 'close' }
      const bytes = request('POST /api/log', headers, logText())
      await repeat({ lanes: 8, pauseMs: 50, signal: attacker.signal }, async () => {
        start()
        end(await exchange(attacker, bytes, { halfClose: true, timeoutMs: 10_000 }))
      })
      return tally
    },
    judge({ silent, broken }, expect) {
      expect(silent === 0, `each connection is closed (${silent} are not)`)
      expect(broken === 0, `no 500 (${broken})`)
    },
  }),
  hostileCase({
    id: 'x11',
    title: 'one key: clients that reset the connection in the middle of a body of 1 MB',
    async attack(attacker) {
      let sent = 0
      const headers = { ...json, 'x-api-key': attacker.apiKey, 'content-length': mebibyte }
      const bytes = head('POST /api/log', headers) + ' '.repeat(mebibyte / 2)
      await repeat({ lanes: 16, pauseMs: 50, signal: attacker.signal }, async () => {
        const socket = dial(attacker)
        if (!(await connected(socket))) return
        sent++
        await written(socket, bytes)
        socket.resetAndDestroy()
      })
      return { sent }
    },
  }),
]
