import { perQueue, queueKinds, type BacklogMonitor } from '@intake/queue'
import type { StoredStateMonitor } from '@intake/records'
import type { WorkerMetrics } from './metrics.ts'

interface Sources {
  backlogs: Pick<BacklogMonitor, 'of' | 'shards'>
  activity: WorkerMetrics['activity']
  stored: Pick<StoredStateMonitor, 'state'>
}

/** One day, not infinity, for a queue that is not getting shorter: autoscalers need a number. */
const neverSeconds = 86_400

/** `/status` without the problems. Null: not known; of `drain_seconds` also: not shrinking. */
export function workerFacts(sources: Sources) {
  const { backlogs, activity, stored } = sources
  const { deadLetters = null, visibleUntil = null } = stored.state() ?? {}
  return {
    backlog: perQueue((kind) => {
      const state = backlogs.of(kind)
      if (state === undefined) return null
      const { waiting, active, delayed, rows, jsonBytes, isPaused } = state
      return {
        frames: { waiting, active, delayed },
        rows,
        bytes: jsonBytes,
        paused: isPaused,
        oldest_age_seconds: state.oldestAgeSeconds ?? null,
        drain_seconds: Number.isFinite(state.secondsToDrain) ? state.secondsToDrain : null,
      }
    }),
    queue_shards: backlogs.shards() ?? null,
    stored_per_second: perQueue((kind) => activity(kind).storedPerSecond),
    insert_in_progress_seconds: perQueue((kind) => (activity(kind).insertMs ?? 0) / 1_000),
    dead_letters: deadLetters,
    visible_until: visibleUntil,
  }
}

/**
 * Figures for an autoscaler over all queues: the longest time to drain, the longest age, the sum of
 * the rows; the same for every worker. A paused queue counts only in `paused`, because no worker
 * may take its frames. Undefined while Redis cannot be read.
 */
export function workerScaling({ backlogs }: { backlogs: Pick<BacklogMonitor, 'of'> }) {
  const known = queueKinds.flatMap((kind) => backlogs.of(kind) ?? [])
  if (known.length === 0) return undefined
  const states = known.filter(({ isPaused }) => !isPaused)
  const finite = (seconds = neverSeconds) => Math.min(seconds, neverSeconds)
  return {
    drain_seconds: Math.max(0, ...states.map(({ secondsToDrain }) => finite(secondsToDrain))),
    oldest_age_seconds: Math.max(
      0,
      ...states.map(({ oldestAgeSeconds }) => finite(oldestAgeSeconds)),
    ),
    rows: states.reduce((sum, { rows }) => sum + rows, 0),
    paused: known.length - states.length,
  }
}
