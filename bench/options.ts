import type { BenchOptions } from './bench.ts'
import { above, oneOf, parseOptions, positive, wholeNumber } from './option-values.ts'
import { defaultSuites, suites } from './suites/index.ts'
import { variantNames, type VariantName } from './variants.ts'

export interface RunOptions {
  options: BenchOptions
  /** Names of the suites to run, in their order. */
  wanted: string[]
  /** Whether to write the report to `bench/results`. */
  save: boolean
  /** Name of the report. If all suites run, it is `latest`. */
  name: string
}

/** The options of the command. The help in `scripts/bench.mjs` describes them, too. */
export const runOptions = {
  /** Suites, separated by commas. */
  suite: { type: 'string' },
  /** Variants that the capacity suite compares, separated by commas. */
  variants: { type: 'string', default: variantNames.join(',') },
  rounds: { type: 'string' },
  /** Length of the load in a round. */
  seconds: { type: 'string' },
  /** Runs all suites with short rounds and few events, for trying the bench, not for measuring. */
  quick: { type: 'boolean', default: false },
  /** Percent of all processors that other programs may use during a round. */
  'foreign-max': { type: 'string', default: '6' },
  /** Maximum slowness of the machine, relative to the fastest round of the same kind. */
  'slowness-max': { type: 'string', default: '1.2' },
  /** How many disturbed turns a suite repeats. */
  repetitions: { type: 'string', default: '1' },
  /** Length of the soak. */
  minutes: { type: 'string' },
  /** Events in the tables of the suite `queries`. */
  rows: { type: 'string', default: '20000000' },
  /** Folder for CPU profiles of Intake's gateways and workers. */
  profile: { type: 'string' },
  save: { type: 'boolean', default: false },
} as const

/**
 * Reads the options of `npm run bench`.
 *
 * @throws {OptionError} if an option is unknown, or a suite, a variant or a number is invalid
 */
export function readOptions(args: string[]): RunOptions {
  const values = parseOptions(args, runOptions)
  const { quick } = values
  const all = Object.keys(suites)
  const wanted = oneOf('suite', values.suite ?? (quick ? all : defaultSuites).join(','), all)
  return {
    options: {
      quick,
      rounds: wholeNumber('rounds', values.rounds ?? (quick ? '2' : '4')),
      seconds: positive('seconds', values.seconds ?? (quick ? '1' : '2.25')),
      warmUpSeconds: quick ? 2 : 8,
      variants: oneOf('variants', values.variants, variantNames) as VariantName[],
      foreignShareMax: positive('foreign-max', values['foreign-max']) / 100,
      slownessMax: above(1, 'slowness-max', values['slowness-max']),
      repetitions: wholeNumber('repetitions', values.repetitions),
      soakMinutes: positive('minutes', values.minutes ?? (quick ? '1' : '10')),
      rows: wholeNumber('rows', values.rows),
      profileDir: values.profile,
    },
    wanted,
    save: values.save,
    name: wanted.join() === defaultSuites.join() ? 'latest' : wanted.join('-'),
  }
}
