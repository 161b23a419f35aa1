import type { Bench } from '../bench.ts'

/** A requirement on a measured value. */
export interface Check {
  /** Number of the requirement in the report. */
  item: string
  what: string
  /** The measured value and the limit, as printed. */
  measured: string
  limit: string
  met: boolean
}

export interface Table {
  title: string
  head: string[]
  rows: (string | number)[][]
  /** What a reader must know to understand it. */
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
  /** How it was measured. */
  method: string
  tables: Table[]
  checks: Check[]
  plots: Plot[]
  /** Every single measurement. */
  raw: unknown
}

/** A part of a suite that consists of several measurements. */
export interface SuitePart {
  table: Table
  checks: Check[]
  raw: unknown
}

export type Suite = (bench: Bench) => Promise<SuiteResult>
