import type { Bench } from '../bench.ts'

/** A requirement on a measured value. */
export interface Check {
  /** Number of the requirement in the report. */
  item: string
  what: string
  /** The measured value and the limit, as they are printed. */
  measured: string
  limit: string
  met: boolean
}

export interface Table {
  title: string
  head: string[]
  rows: (string | number)[][]
  /** What a reader must know to read it. */
  note?: string
}

export interface Plot {
  /** File name without ending. */
  name: string
  title: string
  svg: string
}

export interface SuiteResult {
  name: string
  title: string
  /** What was done, for a reader who wants to doubt it. */
  method: string
  tables: Table[]
  checks: Check[]
  plots: Plot[]
  /** Every single measurement. */
  raw: unknown
}

/** What a suite of several measurements is made of. */
export interface SuitePart {
  table: Table
  checks: Check[]
  raw: unknown
}

export type Suite = (bench: Bench) => Promise<SuiteResult>
