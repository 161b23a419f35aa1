import type { Random } from './random.ts'
import type { Process, Scheduler } from './scheduler.ts'

/**
 * The outcome of a request, as the caller sees it.
 * - `unreachable`: no process was listening, so the request was certainly not handled.
 * - `unknown`: there was no response. The request was handled, or will be handled later, or never.
 */
export type Reply<Answer> =
  | { outcome: 'answered'; value: Answer }
  | { outcome: 'unreachable' }
  | { outcome: 'unknown' }

export interface Call<Answer> {
  from: Process
  to: Process
  what: string
  /** Ticks until the caller gives up. The request may still be handled later. */
  timeoutTicks: number
  background?: boolean
  /** Runs at the receiver; it may respond at once, later, or never. */
  handle: (answer: (value: Answer) => void) => void
  /** Runs at the caller, exactly once, unless the caller dies. */
  done: (reply: Reply<Answer>) => void
}

export interface Network {
  call<Answer>(call: Call<Answer>): void
  /** Like `call`; rejects with the outcome as message if there is no answer. */
  ask<Answer>(call: Omit<Call<Answer>, 'done'>): Promise<Answer>
  /** Breaks the connections of a dead process. Its callers notice that after some time. */
  reset(process: Process): void
}

const latencyMax = 8

export function createNetwork(options: { random: Random; scheduler: Scheduler }): Network {
  const { random, scheduler } = options
  const open = new Set<{ to: Process; cut: () => void }>()

  const network: Network = {
    ask: <Answer>(call: Omit<Call<Answer>, 'done'>) =>
      new Promise<Answer>((resolve, reject) => {
        network.call<Answer>({
          ...call,
          done(reply) {
            if (reply.outcome === 'answered') resolve(reply.value)
            else reject(new Error(reply.outcome))
          },
        })
      }),

    call({ from, to, what, timeoutTicks, background = false, handle, done }) {
      const kind = background ? 'background' : 'work'
      if (to.state === 'down') {
        const notice = () => done({ outcome: 'unreachable' })
        scheduler.plan({ of: from, what: `${what}: ${to.name} is down`, kind, run: notice })
        return
      }
      const life = from.life
      const unknown = { outcome: 'unknown' } as const
      const settle = (reply: Parameters<typeof done>[0]) => {
        if (!open.delete(connection)) return
        giveUp()
        done(reply)
      }
      const arrive = (suffix: string, reply: Parameters<typeof done>[0]) => {
        if (from.life !== life || !open.has(connection)) return
        scheduler.plan({
          of: from,
          what: `${what}: ${suffix}`,
          after: random.below(latencyMax),
          kind: background ? 'background' : 'answer',
          run: () => settle(reply),
        })
      }
      const connection = { to, cut: () => arrive('the connection broke', unknown) }
      open.add(connection)
      const giveUp = scheduler.plan({
        of: from,
        what: `${what}: no response in time`,
        after: timeoutTicks,
        kind,
        run: () => settle(unknown),
      })
      scheduler.plan({
        of: to,
        what: `${what} (for ${from.name})`,
        after: random.below(latencyMax),
        kind,
        run: () => handle((value) => arrive('answered', { outcome: 'answered', value })),
      })
    },

    reset(process) {
      for (const connection of open) {
        if (connection.to !== process) continue
        connection.cut()
      }
    },
  }
  return network
}
