export { adminRoutes } from './admin-routes.ts'
export { pollCheck, type PolledCheck } from './poll-check.ts'
export { healthRoutes } from './health-routes.ts'
export {
  isReady,
  joinDetails,
  notKnown,
  startProblems,
  type Problem,
  type ProblemCheck,
  type Problems,
} from './problems.ts'
export { separateStart } from './start-phase.ts'
export { createRate } from './rate.ts'
export type { Status } from './status.ts'
export { parseWorkerReport, type WorkerReport } from './worker-report.ts'
