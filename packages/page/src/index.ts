export { page, type PageOptions } from './page.ts'
export { type Backlog, type KeyBudget, type PageProblem, type WorkerState } from './worker-state.ts'
