import type { Bench } from '../bench.ts'

/** A requirement on a measured value. */
export interface Check {
  /** Number of the requirement in the report. */
  item: string
  what: string
  /** The measured value and the limit, as printed. */
  measured: string
  limit: string
  /**
   * Whether the limit is met; undefined if this is not judged, because the figure depends on the
   * machine.
   */
  met: boolean | undefined
}

export interface Table {
  title: string
  head: string[]
  rows: (string | number)[][]
  note?: string
}

export interface SuiteResult {
  name: string
  title: string
  /** How the suite measured. */
  method: string
  tables: Table[]
  checks: Check[]
}

export type Suite = (bench: Bench) => Promise<SuiteResult>
