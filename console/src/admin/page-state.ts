import {
  budgetNames,
  createApiKeyStore,
  dayCountOf,
  hasBudget,
  readUsedToday,
} from '@intake/access'
import type { Problems } from '@intake/health'
import { problemCatalogue, type ProblemCode } from '@intake/health/problem-catalogue'
import type { BacklogMonitor } from '@intake/queue'
import type { StoredStateMonitor } from '@intake/records'
import { readPresence, type Redis } from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { createCache } from '../cached.ts'
import { findingsMax } from '../page/findings.ts'
import type { KeyBudget, WorkerState } from '../page/worker-state.ts'
import { join, type Reported } from '../watch/reported.ts'

/**
 * How long the API keys are used before they are read again. Until then the page shows a
 * new key by its id.
 */
const namesMs = 30_000
const readTimeoutMs = 2_000
/** A key that has used this part of a daily budget is shown. */
const nearShare = 0.8

/** A worker of a newer version may report codes that this version does not have. */
const titleOf = (code: string) =>
  code in problemCatalogue ? problemCatalogue[code as ProblemCode].title : code

/**
 * Creates the state that the page shows. It is read at intervals, so a view does not wait for it.
 */
export function createPageState(options: {
  redis: Redis
  backlogs: Pick<BacklogMonitor, 'of'>
  stored: Pick<StoredStateMonitor, 'state' | 'lastVisibleUntil'>
  problems: Pick<Problems, 'present'>
  /** What workers report. */
  reported: Pick<Reported, 'problems'>
  noThumbnails: WorkerState['noThumbnails']
}): WorkerState {
  const { redis, backlogs, stored, problems, reported, noThumbnails } = options
  const keys = createApiKeyStore({ redis })
  const cached = createCache(namesMs)
  const orElse = <Value>(reading: Promise<Value>, what: string, otherwise: Value) =>
    withTimeout(reading, readTimeoutMs, what).catch(() => otherwise)

  const readKeys = () => cached('keys', () => orElse(keys.list(), 'reading the API keys', []))

  async function readBudgets(): Promise<KeyBudget[]> {
    const limited = (await keys.list()).filter(
      ({ limits, revokedAt, suspendedAt }) => hasBudget(limits) && !revokedAt && !suspendedAt,
    )
    const shares = limited.map(async ({ id, name, limits }) => {
      const used = await readUsedToday(redis, id, Date.now())
      return budgetNames.map((budget) => {
        const limit = dayCountOf(budget)
        return { name, limit, share: used[limit] / (limits[budget] ?? Infinity) }
      })
    })
    const near = (await Promise.all(shares)).flat().filter(({ share }) => share >= nearShare)
    return near.toSorted((a, b) => b.share - a.share).slice(0, findingsMax)
  }

  return {
    noThumbnails,
    backlog: (kind) => backlogs.of(kind),
    problems: () =>
      join([...problems.present(), ...reported.problems()]).map((problem) => ({
        ...problem,
        title: titleOf(problem.code),
      })),
    visibleUntilMs(kind) {
      const until = stored.lastVisibleUntil()[kind]
      return until === undefined ? undefined : Date.parse(until)
    },
    deadLetters() {
      const letters = stored.state()?.deadLetters
      return letters && letters.logs + letters.feedback
    },
    // Without Redis the page shows the ids of API keys instead of their names.
    keyNames: async () => new Map((await readKeys()).map(({ id, name }) => [id, name])),
    async scopes() {
      const valid = (await readKeys()).filter(({ revokedAt }) => revokedAt === null)
      return [...new Set(valid.flatMap((key) => key.bundleIdentifiers))]
    },
    keyBudgets: () => orElse(readBudgets(), 'reading the budgets of API keys', []),
    processes: () => orElse(readPresence(redis), 'counting the processes', undefined),
  }
}
