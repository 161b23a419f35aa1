import { randomUUID } from 'node:crypto'
import { logText } from '../attack/bodies.ts'
import { connected, dial, ended, written } from '../attack/connection.ts'
import { flood } from '../attack/flood.ts'
import { json, request } from '../attack/http-text.ts'
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
    judge({ 201: accepted = 0, broken, silent, lost }, expect) {
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
]
