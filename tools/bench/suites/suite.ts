import type { Bench } from '../bench.ts'

export interface Check {
  item: string
  what: string
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
  method: string
  tables: Table[]
  checks: Check[]
}

export type Suite = (bench: Bench) => Promise<SuiteResult>
