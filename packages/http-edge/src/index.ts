export { startAdminServer } from './admin-server.ts'
export { endReasons, pipelinedMax, type EndReason } from './connections.ts'
export { createCors, isPreflight, type Cors, type PreflightResult } from './cors.ts'
export { awaitsContinue, expectContinue } from './edge-server.ts'
export type { Handler } from './exchange.ts'
export { createHttpEdge, type HttpEdge } from './http-edge.ts'
export { createFairGate } from './fairness/fair-gate.ts'
export { mapInTurns, type SenderTurns, type TakeTurn } from './fairness/in-turns.ts'
export { createRoundRobin } from './fairness/round-robin.ts'
export { createTurns, type Turns } from './fairness/turns.ts'
export {
  beginStep,
  exchangeOf,
  failable,
  ignoreFollowing,
  whenEnded,
  type Exchange,
} from './exchange.ts'
export { unwantedBytesMax } from './linger.ts'
export type { Refuse } from './refuse.ts'
export type { SweepClock } from './sweep.ts'
