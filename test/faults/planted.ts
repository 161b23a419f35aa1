import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyBuilt, type Edit } from '@intake/test-kit/built-copy'
import { runScenario, type Result } from './run-scenario.ts'
import type { Scenario } from './scenario.ts'

/** A bug planted in a copy of the built code, and the scenario that must detect it. */
export interface PlantedBug {
  name: string
  scenario: string
  edits?: Edit[]
  cluster?: Partial<Scenario['cluster']>
  /** The text that at least one reason for the scenario's failure must contain. */
  reason: string
}

const tables = 'packages/schema/migrations/0001-logs-and-feedback.sql'
const drainQueue = 'worker/dist/deliver/drain-queue.js'
const stored = 'const postponed = await storeBatch(batch.frames, store);'

export const plantedBugs: PlantedBug[] = [
  {
    name: 'the insert is not awaited',
    scenario: 'F12',
    edits: [
      {
        file: drainQueue,
        find: stored,
        replace: 'const postponed = new Set(); storeBatch(batch.frames, store).catch(() => {});',
      },
    ],
    reason: 'acknowledged but not visible',
  },
  {
    name: 'jobs are completed before the insert',
    scenario: 'F12',
    edits: [{ file: drainQueue, find: stored, replace: `await batch.complete();\n${stored}` }],
    reason: 'acknowledged but not visible',
  },
  {
    name: 'Redis syncs every second instead of always',
    scenario: 'F22',
    cluster: {
      redisConfig: { appendfsync: 'everysec' },
      gatewayEnv: { REDIS_DURABILITY: 'relaxed' },
    },
    reason: 'acknowledged but not visible',
  },
  {
    name: 'FINAL is missing in the view of logs',
    scenario: 'F13',
    edits: [
      {
        file: 'packages/schema/dist/definitions/records.js',
        find: '${names(logColumns)} FROM intake.logs_raw FINAL',
        replace: '${names(logColumns)} FROM intake.logs_raw',
      },
    ],
    reason: 'visible twice',
  },
  {
    name: 'timeouts are skipped',
    scenario: 'F24',
    edits: [
      {
        file: 'packages/runtime/dist/deadline.js',
        find: 'return await Promise.race([work, late]);',
        replace: 'late.catch(() => {}); return await work;',
      },
      {
        file: 'packages/redis/dist/connect.js',
        find: 'commandTimeout: 5_000',
        replace: 'commandTimeout: 60_000',
      },
      {
        file: 'packages/redis/dist/connect.js',
        find: 'socketTimeout: 5_000',
        replace: 'socketTimeout: 60_000',
      },
    ],
    reason: 'late response',
  },
  {
    name: 'idempotency keys are ignored',
    scenario: 'F24',
    edits: [
      {
        file: 'gateway/dist/identity/assign-identity.js',
        find: 'if (reservedId === undefined && key === undefined)\n        return identity',
        replace: 'return identity',
      },
    ],
    reason: 'visible twice',
  },
  {
    name: 'the time of a record is not the time in its id',
    scenario: 'F25',
    edits: [
      {
        file: 'gateway/dist/record/row.js',
        find: '"time":"${time}"',
        replace: '"time":"${new Date().toISOString()}"',
      },
      {
        file: tables,
        find: "time = UUIDv7ToDateTime(id, 'UTC')",
        replace: "id != toUUID('00000000-0000-0000-0000-000000000000')",
      },
    ],
    reason: 'visible twice',
  },
  {
    name: 'rows are partitioned by received_at',
    scenario: 'F63',
    edits: [
      {
        file: tables,
        find: 'PARTITION BY toYYYYMM(time)',
        replace: 'PARTITION BY toYYYYMM(received_at)',
      },
    ],
    reason: 'no record is in two partitions',
  },
  {
    name: 'a reservation is not atomic across midnight',
    scenario: 'F63',
    edits: [
      // With this bug, the script's `today` is the day that the gateway last read, not the day of
      // Redis's clock.
      {
        file: 'packages/identity/dist/reserve-script.js',
        find: 'local today = day - ARGV[1]',
        replace: 'local today = days - 2',
      },
      {
        file: 'packages/identity/dist/reserve-script.js',
        find: 'for i = days - 1, 0, -1 do',
        replace: 'for i = today, 0, -1 do',
      },
    ],
    reason: 'every retry gets the same id',
  },
  {
    name: 'dead letters are keyed only by id',
    scenario: 'F20b',
    edits: [
      {
        file: 'packages/schema/migrations/0002-dead-letters.sql',
        find: 'ORDER BY (table, bundle_identifier, time, id, device_uuid)',
        replace: 'ORDER BY (table, id)',
      },
    ],
    reason: 'each device has its dead letter',
  },
  {
    name: 'an accepted log counts twice',
    scenario: 'F21',
    edits: [
      {
        file: 'gateway/dist/report/outcomes.js',
        find: 'records: accepted - ruledOut',
        replace: 'records: 2 * (accepted - ruledOut)',
      },
    ],
    reason: 'counted as accepted, but not stored',
  },
  {
    name: 'reports of outcomes are not cumulative',
    scenario: 'F35a',
    edits: [
      {
        file: 'gateway/dist/report/outcome-counts.js',
        find: 'counter.reported = Math.max(counter.reported, report.records);',
        replace: 'counter.records -= report.records;',
      },
    ],
    reason: 'stored, but not counted',
  },
  {
    name: 'the watermark ignores what is in the queues',
    scenario: 'F12',
    edits: [
      {
        file: 'worker/dist/watch/watermark.js',
        find: 'Math.min(oldestMs, nowMs - limits.acceptanceMs[kind])',
        replace: 'nowMs',
      },
    ],
    reason: 'stored after the watermark',
  },
  {
    name: 'an erasure leaves the objects',
    scenario: 'F66',
    edits: [
      {
        file: 'packages/records/dist/erasure/erase.js',
        find: 'report.objectsDeleted += await removeObjectsOf(services, selected)',
        replace: 'report.objectsDeleted += 0',
      },
    ],
    reason: 'no object of the user is stored',
  },
  {
    name: 'what has not arrived yet counts as silence',
    scenario: 'F83',
    edits: [
      {
        file: 'console/dist/alerts/judge.js',
        find: "return isBehind || wasRefused ? 'unknown' : 'firing';",
        replace: "return 'firing';",
      },
    ],
    reason: 'no false silence',
  },
  {
    name: 'the queue forgets which requests of the webhook were sent',
    scenario: 'F68',
    edits: [
      {
        file: 'packages/queue/dist/delivery-sink.js',
        find: 'removeOnComplete: { age: daySeconds, count: 2 * idsMax }',
        replace: 'removeOnComplete: true',
      },
    ],
    reason: 'no feedback was announced again',
  },
  {
    name: 'a killed console gives up its requests',
    scenario: 'F69',
    edits: [
      {
        file: 'packages/queue/dist/deliveries.js',
        find: 'maxStalledCount: Number.MAX_SAFE_INTEGER',
        replace: 'maxStalledCount: 0',
      },
    ],
    reason: 'visible but not announced',
  },
]

/**
 * Runs the scenario of a bug on a copy of the code with the bug. The result is `passed` if the
 * scenario fails and one of its reasons contains `bug.reason`.
 */
export async function runPlanted(
  bug: PlantedBug,
  options: { scenarios: Scenario[]; root: string; seed: number },
): Promise<Result> {
  const scenario = options.scenarios.find(({ id }) => id === bug.scenario)
  if (scenario === undefined) throw new Error(`no scenario ${bug.scenario}`)
  const copy = mkdtempSync(join(tmpdir(), 'intake-planted-'))
  try {
    copyBuilt({ root: options.root, copy, edits: bug.edits ?? [] })
    const { seed } = options
    const result = await runScenario(
      { ...scenario, drainStallMs: 60_000 },
      { root: copy, seed, ...(bug.cluster && { planted: bug.cluster }) },
    )
    const title = `planted: ${bug.name}`
    if (result.status === 'skipped') return { ...result, title }
    const seen =
      result.status === 'failed' && result.reasons.some((one) => one.includes(bug.reason))
    const reasons = seen ? result.reasons : ['this bug was not detected', ...result.reasons]
    return { ...result, title, status: seen ? 'passed' : 'failed', reasons }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}
