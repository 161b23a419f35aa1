import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as clickhouse from '@intake/clickhouse'
import * as contract from '@intake/contract'
import * as consume from '@intake/queue/consume'
import * as produce from '@intake/queue/produce'
import * as redis from '@intake/redis'
import * as acceptance from '../../gateway/src/accept/acceptance.ts'
import * as acceptFeedback from '../../gateway/src/accept/feedback.ts'
import * as acceptLog from '../../gateway/src/accept/log.ts'
import * as groupCommit from '../../gateway/src/commit/group-commit.ts'
import * as idempotencyStore from '../../packages/identity/src/idempotency-store.ts'
import * as reservationLedger from '../../packages/identity/src/reservation-ledger.ts'
import * as worker from '../../worker/src/deliver/worker.ts'
import * as watermark from '../../worker/src/watch/watermark.ts'

/** The modules of the product that the simulation runs. */
export const realCode = {
  acceptance,
  acceptFeedback,
  acceptLog,
  groupCommit,
  idempotencyStore,
  reservationLedger,
  worker,
  watermark,
  clickhouse,
  contract,
  consume,
  produce,
  redis,
}
export type Code = typeof realCode

const builtFiles: Record<keyof Code, string> = {
  acceptance: 'gateway/dist/accept/acceptance.js',
  acceptFeedback: 'gateway/dist/accept/feedback.js',
  acceptLog: 'gateway/dist/accept/log.js',
  groupCommit: 'gateway/dist/commit/group-commit.js',
  idempotencyStore: 'packages/identity/dist/idempotency-store.js',
  reservationLedger: 'packages/identity/dist/reservation-ledger.js',
  worker: 'worker/dist/deliver/worker.js',
  watermark: 'worker/dist/watch/watermark.js',
  clickhouse: 'packages/clickhouse/dist/index.js',
  contract: 'packages/contract/dist/index.js',
  consume: 'packages/queue/dist/consume.js',
  produce: 'packages/queue/dist/produce.js',
  redis: 'packages/redis/dist/index.js',
}

/** Loads the modules of `realCode`, but from a copy of the built code. */
export async function loadCode(copy: string): Promise<Code> {
  const modules = Object.entries(builtFiles).map(async ([name, file]) => {
    const loaded: unknown = await import(pathToFileURL(join(copy, file)).href)
    return [name, loaded] as const
  })
  return Object.fromEntries(await Promise.all(modules)) as unknown as Code
}
