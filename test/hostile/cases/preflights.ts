import { connected, dial, written } from '../attack/connection.ts'
import { head } from '../attack/http-text.ts'
import { repeat, wait } from '../attack/loops.ts'
import { hostileCase } from '../hostile-case.ts'

const lanes = 100
const perBurst = 4
/** The pause between two bursts of a lane. All lanes together send 10,000 requests a second. */
const pauseMs = 40

export const preflights = [
  hostileCase({
    id: 'p1',
    title: 'no key: 10,000 preflight requests a second over 100 connections, all read',
    gatewayEnv: { CORS_ORIGINS: '*' },
    sentMin: 30_000,
    async attack(attacker) {
      const one = head('OPTIONS /api/log', {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      })
      const burst = Buffer.from(one.repeat(perBurst))
      let sent = 0
      await repeat({ lanes, signal: attacker.signal }, async () => {
        const socket = dial(attacker)
        if (!(await connected(socket))) return wait(100, attacker.signal)
        socket.resume()
        while (!attacker.signal.aborted && (await written(socket, burst))) {
          sent += perBurst
          await wait(pauseMs, attacker.signal)
        }
        socket.destroy()
      })
      return { sent }
    },
  }),
]
