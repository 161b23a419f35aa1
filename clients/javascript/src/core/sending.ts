import { nextOf, oldest } from './segment-list.ts'
import type { State } from './state.ts'

/** Sends what waits. `isUrgent`: see `SendLoop.wake`. */
export const wake = (client: State, isUrgent?: boolean): void => {
  client.loops.forEach((loop) => loop.wake(isUrgent))
  settle(client)
}

/** Resolves the waiting calls of `flush` if nothing more can be sent now. */
export const settle = (client: State): void => {
  if (client.loops.some((loop) => !!loop.sending())) return
  if (!client.stopReason && (oldest(client) || nextOf(client.feedbacks))) return
  client.waiting.splice(0).forEach((resolve) => resolve())
}
