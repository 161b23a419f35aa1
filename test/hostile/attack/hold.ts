import type { Attacker } from '../hostile-case.ts'
import { connected, dial, ended, written } from './connection.ts'
import { aborted, wait } from './loops.ts'

/** How many connections are opened per step. More would fill the gateway's accept queue. */
const openedPerStep = 100
const stepMs = 40

/** `openMax` is the highest number of connections that were open at the same time. */
export type Held = Record<'sent' | 'openMax', number>

/**
 * Holds connections open and reopens each a second after it closes.
 *
 * @param options.greeting what each connection sends first
 * @param options.trickle what each connection then sends once a second, also after the attack
 * @param options.givesUp closes a connection at the first response bytes, and reopens it
 */
export async function holdConnections(
  attacker: Attacker,
  options: { connections: number; greeting: string; trickle?: string; givesUp?: boolean },
): Promise<Held> {
  const { connections, greeting, trickle, givesUp = false } = options
  const { signal } = attacker
  const held: Held = { sent: 0, openMax: 0 }
  let open = 0

  const hold = async (): Promise<void> => {
    while (!signal.aborted) {
      const socket = dial(attacker)
      if (await connected(socket)) {
        held.sent++
        held.openMax = Math.max(held.openMax, ++open)
        socket.on('data', () => void (givesUp && socket.destroy()))
        await written(socket, greeting)
        const drip = () => void (socket.writable && socket.write(trickle ?? ''))
        const ticker = trickle === undefined ? undefined : setInterval(drip, 1_000)
        await Promise.race([ended(socket), aborted(signal)])
        if (signal.aborted) return
        clearInterval(ticker)
        open--
      }
      await wait(1_000, signal)
    }
  }

  const all: Promise<void>[] = []
  while (all.length < connections && !signal.aborted) {
    for (let step = 0; step < openedPerStep && all.length < connections; step++) all.push(hold())
    await wait(stepMs, signal)
  }
  await Promise.all(all)
  return held
}
