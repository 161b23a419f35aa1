import type { Ruling } from '@intake/access'
import type { IntakeError, RecordKind } from '@intake/contract'
import type { RequestContext } from '../record/row.ts'
import type { OutcomeCounts } from './outcome-counts.ts'
import type { Refusals, Refused } from './refusals.ts'

/** A request that was not refused, with what became of its records. */
export interface Accepted {
  kind: RecordKind
  context: RequestContext
  /** Whether the records are acknowledged but not stored, because the sender is suppressed. */
  isSuppressed: boolean
  records: readonly Judged[]
}

/** A record, with its verdict. */
export interface Judged {
  error?: IntakeError | undefined
  ruling?: Ruling | undefined
}

declare const counted: unique symbol

/**
 * The response to a request whose outcome has been counted. Only `Outcomes.settle` makes one, so a
 * route that responds with one cannot have forgotten to count.
 */
export interface Settled<Body> {
  readonly body: Body
  /** How many records are acknowledged but not stored. */
  readonly leftOut: number
  readonly [counted]: true
}

export type Outcomes = ReturnType<typeof createOutcomes>

/**
 * Counts the outcome of every request; no other code counts outcomes. For each request, one of
 * these functions is called once, with two exceptions. If the client disconnects before the end of
 * its body, nothing is counted. If a request gets the response `outcome_unknown` before its records
 * are stored, it is counted as refused, and later also as accepted.
 */
export function createOutcomes(options: {
  counts: Pick<OutcomeCounts, 'count'>
  refusals: Pick<Refusals, 'note' | 'noteEntries'>
  wallMs: () => number
}) {
  const { counts, refusals, wallMs } = options

  /** Counts a record on which rules have acted; returns whether they leave it out. */
  function countRuling({ outcome: code, acted }: Ruling, request: Accepted): boolean {
    for (const active of acted) active.matches++
    if (code === 'accepted') return false
    const { kind, context } = request
    const { apiKeyId, receivedAtMs: atMs } = context
    // Only one rule has acted on a record that is left out: the rule that leaves it out.
    counts.count({ apiKeyId, kind, code, atMs, records: 1, rule: acted[0]?.rule.id ?? '' })
    return true
  }

  function countRejected(errors: readonly IntakeError[], { kind, context }: Accepted): void {
    const { apiKeyId, requestId } = context
    const atMs = wallMs()
    for (const { code } of errors) counts.count({ apiKeyId, kind, code, atMs, records: 1 })
    refusals.noteEntries({ errors, requestId, apiKeyId })
  }

  return {
    settle<Body>(request: Accepted, body: Body): Settled<Body> {
      const { kind, context, isSuppressed, records } = request
      const errors: IntakeError[] = []
      let ruledOut = 0
      for (const { error, ruling } of records) {
        if (error !== undefined) errors.push(error)
        else if (ruling !== undefined && !isSuppressed && countRuling(ruling, request)) ruledOut++
      }
      const accepted = records.length - errors.length
      if (accepted > ruledOut) {
        const { apiKeyId, receivedAtMs: atMs } = context
        const code = isSuppressed ? 'suppressed' : 'accepted'
        counts.count({ apiKeyId, kind, code, atMs, records: accepted - ruledOut })
      }
      if (errors.length > 0) countRejected(errors, request)
      return { body, leftOut: isSuppressed ? accepted : ruledOut } as Settled<Body>
    },

    refused(request: Refused): void {
      const { error, apiKeyId = '', kind, records } = request
      counts.count({ apiKeyId, kind, code: error.code, atMs: wallMs(), records })
      refusals.note(request)
    },
  }
}
