export { printCase, printSummary } from './print.ts'
export { runConformance, type CaseResult, type ConformanceResult } from './run.ts'
