import { parseArgs } from 'node:util'
import { oneOf, wholeNumber } from '../option-values.ts'
import { parts, type Part } from './measurements.ts'

export interface GuardOptions {
  /** The commit to compare with; undefined: the default. */
  base: string | undefined
  /** Gateways, and workers, of each build that run one after the other. */
  processes: number
  /** Pairs of passes with each pair of processes. */
  passes: number
  only: readonly Part[]
}

/** @throws {OptionError} if a part or a number is invalid */
export function readGuardOptions(args: string[]): GuardOptions {
  const { values } = parseArgs({
    args,
    options: {
      base: { type: 'string' },
      processes: { type: 'string', default: '8' },
      passes: { type: 'string', default: '6' },
      /** Separated by commas. */
      only: { type: 'string', default: parts.join(',') },
    },
  })
  return {
    base: values.base,
    processes: wholeNumber('processes', values.processes),
    passes: wholeNumber('passes', values.passes),
    only: oneOf('only', values.only, parts) as Part[],
  }
}
