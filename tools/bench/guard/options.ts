import { oneOf, parseOptions, wholeNumber } from '../option-values.ts'
import { parts, type Part } from './measurements.ts'

export interface GuardOptions {
  /** The commit to compare with; if undefined, `tools/scripts/bench-guard.mjs` chooses one. */
  base: string | undefined
  /** How many times a new gateway and a new worker of each build are started. */
  processes: number
  /** How many times each pair of processes is measured. The two builds take turns. */
  passes: number
  only: readonly Part[]
}

/** The options of the command. The help in `tools/scripts/bench-guard.mjs` describes them, too. */
export const guardOptions = {
  base: { type: 'string' },
  processes: { type: 'string', default: '8' },
  passes: { type: 'string', default: '6' },
  only: { type: 'string', default: parts.join(',') },
} as const

/**
 * Reads the options of `npm run bench:guard`.
 *
 * @throws {OptionError} if an option is unknown, or a part or a number is invalid
 */
export function readGuardOptions(args: string[]): GuardOptions {
  const values = parseOptions(args, guardOptions)
  return {
    base: values.base,
    processes: wholeNumber('processes', values.processes),
    passes: wholeNumber('passes', values.passes),
    only: oneOf('only', values.only, parts) as Part[],
  }
}
