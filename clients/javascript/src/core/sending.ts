import type { State } from './state.ts'

/** Sends what waits. `isUrgent`: see `SendLoop.wake`. */
export function wake(client: State, isUrgent?: boolean): void {
  client.loops.forEach((loop) => loop.wake(isUrgent))
  settle(client)
}

/** Called whenever a loop ends or pauses. */
export function onPause(client: State, stop: string | undefined): void {
  if (stop) {
    client.stopped = stop
    closeLoops(client)
  }
  settle(client)
}

export const closeLoops = ({ loops }: State): void => loops.forEach((loop) => loop.close())

function settle(client: State): void {
  const { loops, logs, feedbacks, stopped } = client
  if (loops.some((loop) => !!loop.sending())) return
  if (!stopped && (logs.oldest() || feedbacks.canSend())) return
  client.waiting.splice(0).forEach((resolve) => resolve())
}
