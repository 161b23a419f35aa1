import type { Clock } from '@intake/runtime'
import type { Process } from './scheduler.ts'
import type { World } from './world.ts'

/** Milliseconds of virtual time per tick. */
export const tickMs = 100

/**
 * The clock of a simulated process. Its timers freeze and die with the process.
 *
 * @param options.isBackground true for the clock of code that sets its timer again and again, such
 * as a poll. A simulation run can end while such timers are pending
 */
export function createClock(options: {
  world: World
  process: Process
  isBackground: boolean
}): Clock {
  const { scheduler, random } = options.world
  const plan = (run: () => void, after: number) =>
    scheduler.plan({
      of: options.process,
      what: 'a timer',
      after,
      kind: options.isBackground ? 'background' : 'work',
      isQuiet: true,
      run,
    })
  return {
    now: () => scheduler.now() * tickMs,
    setTimeout: (run, ms) => plan(run, Math.ceil(ms / tickMs)),
    clearTimeout: (cancel) => (cancel as (() => void) | undefined)?.(),
    setImmediate: (run) => void plan(run, 0),
    random: () => random.below(1_000_000) / 1_000_000,
  }
}
