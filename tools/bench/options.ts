import type { BenchOptions } from './bench.ts'
import { oneOf, parseOptions, positive, wholeNumber } from './option-values.ts'
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
      profileDir: values.profile,
    },
    wanted,
    save: values.save,
    name: wanted.join() === all.join() ? 'latest' : wanted.join('-'),
  }
}
