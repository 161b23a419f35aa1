import { systemClock, type Clock } from '@intake/runtime'

/** A clock whose timers are all due at once. */
export const hurriedClock: Clock = {
  ...systemClock,
  setTimeout: (run) => setImmediate(run),
  clearTimeout: (timer) => clearImmediate(timer as NodeJS.Immediate | undefined),
}
