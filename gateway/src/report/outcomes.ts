import type { IntakeError, RecordKind } from '@intake/contract'
import type { OutcomeCounts } from './outcome-counts.ts'
import type { Refusals, Refused } from './refusals.ts'

/** What became of the records of a request that was not refused. */
export interface Settled {
  kind: RecordKind
  apiKeyId: string
  requestId: string
  /** When they arrived: the gateway's clock, in milliseconds since 1970. */
  receivedAtMs: number
  /** How many are stored, or dropped because their sender is suppressed. */
  accepted: number
  isSuppressed: boolean
  /** Why others are not: entries of a batch. */
  rejected: readonly IntakeError[]
}

/**
 * The exit of every request: no other code counts outcomes. Each calls one of these once, with two
 * exceptions: of a client that is gone before the end of its body nothing is counted, and a request that got its
 * response while its records were being stored (`outcome_unknown`) is counted as accepted, too, if they are.
 */
export interface Outcomes {
  settled(request: Settled): void
  refused(request: Refused): void
}

/** @param options.wallMs the gateway's clock, in milliseconds since 1970 */
export function createOutcomes(options: {
  counts: Pick<OutcomeCounts, 'count'>
  refusals: Pick<Refusals, 'note' | 'noteEntries'>
  wallMs: () => number
}): Outcomes {
  const { counts, refusals, wallMs } = options
  return {
    settled({ kind, apiKeyId, requestId, receivedAtMs, accepted, isSuppressed, rejected }) {
      if (accepted > 0) {
        const code = isSuppressed ? 'suppressed' : 'accepted'
        counts.count({ apiKeyId, kind, code, atMs: receivedAtMs, records: accepted })
      }
      if (rejected.length === 0) return
      const atMs = wallMs()
      for (const { code } of rejected) counts.count({ apiKeyId, kind, code, atMs, records: 1 })
      refusals.noteEntries({ errors: rejected, requestId, apiKeyId })
    },

    refused(request) {
      const { error, apiKeyId = '', kind, records } = request
      counts.count({ apiKeyId, kind, code: error.code, atMs: wallMs(), records })
      refusals.note(request)
    },
  }
}
