export { parseFault, type Fault } from './faults.ts'
export { createMemoryIdempotencyStore } from './memory-ports.ts'
export { createSandbox, sandboxKey, type Sandbox, type SandboxRecord } from './sandbox.ts'
export type { OnRequest, SeenRequest } from './seen-request.ts'
