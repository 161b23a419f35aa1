import { systemClock, type Clock } from '@intake/runtime'

/** A clock whose timers do not wait: each one runs in the next turn of the event loop. */
export const hurriedClock: Clock = {
  ...systemClock,
  setTimeout: (run) => setImmediate(run),
  clearTimeout: (timer) => clearImmediate(timer as NodeJS.Immediate | undefined),
}
