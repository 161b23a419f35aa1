import type { Ruling } from '@intake/access'
import type { IntakeError, RecordKind } from '@intake/contract'
import type { OutcomeCounts } from './outcome-counts.ts'
import type { Refusals, Refused } from './refusals.ts'

/** The outcome of the records of a request that was not refused. */
export interface Settled {
  kind: RecordKind
  apiKeyId: string
  requestId: string
  /** When the records arrived, by the gateway's clock, in milliseconds since 1970. */
  receivedAtMs: number
  /** How many records are stored, or left out because of a rule or a suppressed sender. */
  accepted: number
  isSuppressed: boolean
  /** What the rules decide about the accepted records. */
  rulings: readonly Ruling[]
  /** The error of each rejected entry of a batch. */
  rejected: readonly IntakeError[]
}

/**
 * Counts the outcome of every request; no other code counts outcomes. For each request, one of
 * these functions is called once, with two exceptions. If the client disconnects before the end of
 * its body, nothing is counted. If a request gets the response `outcome_unknown` before its records
 * are stored, it is counted as refused, and later also as accepted.
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

  /** Counts the records on which rules have acted; returns how many records the rules leave out. */
  function countRulings({ rulings, apiKeyId, kind, receivedAtMs: atMs }: Settled): number {
    let leftOut = 0
    for (const { outcome: code, acted } of rulings) {
      for (const active of acted) active.matches++
      if (code === 'accepted') continue
      leftOut++
      // Only one rule has acted on a record that is left out: the rule that leaves it out.
      counts.count({ apiKeyId, kind, code, atMs, records: 1, rule: acted[0]?.rule.id ?? '' })
    }
    return leftOut
  }

  return {
    settled(request) {
      const { kind, apiKeyId, requestId, receivedAtMs, accepted, isSuppressed, rejected } = request
      const leftOut = isSuppressed ? 0 : countRulings(request)
      if (accepted > leftOut) {
        const code = isSuppressed ? 'suppressed' : 'accepted'
        const records = accepted - leftOut
        counts.count({ apiKeyId, kind, code, atMs: receivedAtMs, records })
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
