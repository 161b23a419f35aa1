export { page, type PageOptions } from './page.ts'
export { type Backlog, type PageProblem, type WorkerState } from './worker-state.ts'
