import type { Attacker } from '../hostile-case.ts'
import { connected, dial, ended, written } from './connection.ts'
import { aborted, wait } from './loops.ts'

/** As fast as connections are opened: more at once would fill the queue of the listening socket. */
const openedPerStep = 100
const stepMs = 40

/** `openMax`: connections that were open at the same time. */
export type Held = Record<'sent' | 'openMax', number>

/**
 * Holds connections open and opens each again a second after its end.
 *
 * @param options.greeting what each sends first
 * @param options.trickle what each sends once a second from then on, also when the attack is over
 * @param options.givesUp ends a connection as soon as the gateway says something, and opens it again
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
