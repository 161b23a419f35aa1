export { cases } from './cases/index.ts'
export type { ConformanceCase } from './conformance-case.ts'
export { printCase, printSummary } from './print.ts'
export { runConformance, type CaseResult, type ConformanceResult } from './run.ts'
