import type { BenchOptions } from './bench.ts'
import { above, oneOf, parseOptions, positive, wholeNumber } from './option-values.ts'
import { suites } from './suites/index.ts'

export interface RunOptions {
  options: BenchOptions
  wanted: string[]
  save: boolean
  /**
   * The name of the report: `latest` if all suites run, otherwise the names of the suites.
   */
  name: string
}

/** The options of the command. The help in `tools/scripts/bench.mjs` describes them, too. */
export const runOptions = {
  suite: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  /** Tries the bench without measuring: short rounds, few events. */
  quick: { type: 'boolean', default: false },
  /** The percentage of the machine's CPU time that other programs may use during a round. */
  'foreign-max': { type: 'string', default: '6' },
  /**
   * The maximum slowness of a round. At a slowness of 1.2, the load generator uses 20 % more CPU
   * per event than in the fastest round of the same kind.
   */
  'slowness-max': { type: 'string', default: '1.2' },
  /** How many disturbed turns (rounds of all compared items) are measured again, at most. */
  repetitions: { type: 'string', default: '1' },
  /** Folder for CPU profiles of Intake's gateways and workers. */
  profile: { type: 'string' },
  save: { type: 'boolean', default: false },
} as const

/**
 * Reads the options of `npm run bench`.
 *
 * @throws {OptionError} if an option is unknown, or a suite or a number is invalid
 */
export function readOptions(args: string[]): RunOptions {
  const values = parseOptions(args, runOptions)
  const { quick } = values
  const all = Object.keys(suites)
  const wanted = oneOf('suite', values.suite ?? all.join(','), all)
  return {
    options: {
      quick,
      rounds: wholeNumber('rounds', values.rounds ?? (quick ? '2' : '4')),
      seconds: positive('seconds', values.seconds ?? (quick ? '1' : '2.25')),
      warmUpSeconds: quick ? 2 : 8,
      foreignShareMax: positive('foreign-max', values['foreign-max']) / 100,
      slownessMax: above(1, 'slowness-max', values['slowness-max']),
      repetitions: wholeNumber('repetitions', values.repetitions),
      profileDir: values.profile,
    },
    wanted,
    save: values.save,
    name: wanted.join() === all.join() ? 'latest' : wanted.join('-'),
  }
}
