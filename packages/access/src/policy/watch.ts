import type { KeyObject } from 'node:crypto'
import { dayMs, type RecordKind } from '@intake/contract'
import { startPolling } from '@intake/runtime'
import { compileRules, type ActiveRule, type CompiledRules } from '../rules/compile.ts'
import type { PolicyStore } from './store.ts'
import type { StoredPolicy } from './stored-policy.ts'
import { deriveSubjectKey, suppressionHash, type Suppression } from './suppression.ts'

/** Which records a gateway must not store. The methods do no I/O. */
export interface Policy {
  /** Whether the policy has been read at least once; until then nothing may be accepted. */
  isLoaded(): boolean
  /** Older records have been dropped, by `time`, in ms; undefined: none. */
  retentionMs(kind: RecordKind, bundleIdentifier: string): number | undefined
  /** Whether records of this sender are acknowledged but not stored. */
  isSuppressed(sender: {
    bundle_identifier: string
    device_uuid: string
    unique_user_id: string
  }): boolean
  /** The rules, compiled once for each change of the policy. */
  rules(): Pick<CompiledRules, 'active' | 'forSender'>
}

const noRules = compileRules({ rules: [], secret: undefined })

/**
 * Keeps the policy in memory and checks every `intervalMs` whether it has changed. While the store
 * is unavailable the last known policy remains valid, as does a known rule, or the secret, whose
 * entry becomes unreadable.
 *
 * @param options.onUnreadable called with the names of unreadable fields and rules after each
 * change
 */
export function watchPolicy(options: {
  store: Pick<PolicyStore, 'load'>
  intervalMs: number
  onError: (error: unknown) => void
  onUnreadable: (names: string[]) => void
  /** Returns the current time in milliseconds since 1970. */
  wallMs?: () => number
}): Policy & { close(): void } {
  const { wallMs = Date.now } = options
  let policy: StoredPolicy | undefined
  let rules = noRules
  let subjectKey: KeyObject | undefined

  const { close } = startPolling({
    async poll() {
      const changed = await options.store.load(policy?.revision)
      if (changed === undefined) return
      const { secret = policy?.secret } = changed
      policy = { ...changed, secret }
      subjectKey = secret === undefined ? undefined : deriveSubjectKey(secret)
      rules = compileRules({
        rules: [...changed.rules, ...stillKnown(rules.active, changed)],
        secret,
        known: rules.active,
      })
      if (changed.unreadable.length > 0) options.onUnreadable(changed.unreadable)
    },
    intervalMs: options.intervalMs,
    onError: options.onError,
  })

  return {
    isLoaded: () => policy !== undefined,
    retentionMs(kind, bundleIdentifier) {
      const dropped = policy?.droppedUntilMs[kind]
      const untilMs = Math.max(dropped?.get('') ?? 0, dropped?.get(bundleIdentifier) ?? 0)
      if (untilMs === 0) return undefined
      const nowMs = wallMs()
      // The current day is never dropped, whatever was noted.
      return nowMs - Math.min(untilMs, Math.floor(nowMs / dayMs) * dayMs)
    },
    isSuppressed(sender) {
      const [key, suppressed] = [subjectKey, policy?.suppressed]
      if (key === undefined || suppressed === undefined || suppressed.size === 0) return false
      return suppressionsOf(sender).some((one) => suppressed.has(suppressionHash(key, one)))
    },
    rules: () => rules,
    close,
  }
}

/** The rules that this process still follows although their entries can no longer be read. */
function stillKnown(active: readonly ActiveRule[], { unreadableRules }: StoredPolicy) {
  return active.map(({ rule }) => rule).filter(({ id }) => unreadableRules.includes(id))
}

function suppressionsOf(sender: Parameters<Policy['isSuppressed']>[0]): Suppression[] {
  const { bundle_identifier, device_uuid, unique_user_id } = sender
  return [undefined, bundle_identifier].flatMap((bundleIdentifier) => [
    { kind: 'user', id: unique_user_id, bundleIdentifier },
    { kind: 'device', id: device_uuid.toLowerCase(), bundleIdentifier },
  ])
}
