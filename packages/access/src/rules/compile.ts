import type { RecordKind } from '@intake/contract'
import type { Sender } from '@intake/contract/schemas'
import { deviceShare } from './device-share.ts'
import { editPaths, type Change } from './edit-paths.ts'
import { createHashValues } from './hash-values.ts'
import { factsOf, testsAbout, type RecordFacts, type Test } from './conditions.ts'
import { concerns, ruleActions, type Rule } from './rule.ts'

/** A rule that this process follows, and how often it has acted since the process started. */
export interface ActiveRule {
  readonly rule: Rule
  /** Acknowledged records that the rule has dropped, sampled (kept or not) or changed. */
  matches: number
}

export interface Ruling {
  /** Only `accepted` records are stored. Other records are acknowledged, but not stored. */
  readonly outcome: 'accepted' | 'dropped' | 'sampled'
  /** The fraction of devices whose records like this one are stored, from 0 to 1. */
  readonly sampleRate: number
  readonly edits: Edits
  /** The rules that have acted so far; an edit that changes something adds its rule. */
  readonly acted: ActiveRule[]
}

/** Whether a rule leaves the record out: it is acknowledged, but not stored. */
export const isLeftOut = ({ outcome }: Ruling): boolean => outcome !== 'accepted'

export type Edits = Readonly<Record<EditedPart, readonly Edit[]>>
export type EditedPart = 'params' | 'device' | 'extra'

interface Edit {
  active: ActiveRule
  path: string
  /** Creates the change that hashes values; undefined if the edit removes the value. */
  hash: (() => Change) | undefined
}

export interface SenderRules {
  /**
   * Undefined if the rules say nothing about the record.
   *
   * @param event undefined for a feedback
   */
  judge(event: string | undefined): Ruling | undefined
}

export interface CompiledRules {
  readonly active: readonly ActiveRule[]
  /**
   * The rules that may apply to a request; undefined if none. The sender is read now, not later.
   */
  forSender(kind: RecordKind, apiKeyId: string, sender: Sender): SenderRules | undefined
}

interface Compiled {
  active: ActiveRule
  /** The tests of the event. The rules of an event are cached, so these are made once per name. */
  ofEvent: readonly Test[]
  ofSender: readonly Test[]
  edit: Edit | undefined
  part: EditedPart | undefined
}

interface Applicable {
  rules: readonly Compiled[]
  byEvent: Map<string, readonly Compiled[]>
}

const noEdits: Edits = { params: [], device: [], extra: [] }
/** Over all applications. Clients can send any number of names, so a full cache is emptied. */
const eventsMax = 1_000

/**
 * Prepares rules, so that an event costs one look-up by application, one by event name, and one
 * comparison with each rule found.
 *
 * @param options.secret in base64; without it, values that should be hashed are removed
 * @param options.known the rules that are already active; they keep their counts
 */
export function compileRules(options: {
  rules: readonly Rule[]
  secret: string | undefined
  known?: readonly ActiveRule[]
}): CompiledRules {
  const { rules, secret, known = [] } = options
  const hashValue = secret === undefined ? undefined : createHashValues(secret)
  // Reuses the object of a known rule, so that requests in progress still count into it.
  const active = rules.map(
    (rule) => known.find((one) => one.rule.id === rule.id) ?? { rule, matches: 0 },
  )
  // Dropped records meet no other rule, and removed values need not be hashed.
  const compiled = active
    .toSorted((a, b) => ruleActions.indexOf(a.rule.action) - ruleActions.indexOf(b.rule.action))
    .map((one) => compile(one, hashValue))
  const applicable: Record<RecordKind, ReturnType<typeof byBundle>> = {
    logs: byBundle(compiled.filter(({ active: { rule } }) => concerns(rule, 'logs'))),
    feedback: byBundle(compiled.filter(({ active: { rule } }) => concerns(rule, 'feedback'))),
  }
  let events = 0

  function forEvent(
    { rules: all, byEvent }: Applicable,
    event: string,
    facts: RecordFacts,
  ): readonly Compiled[] {
    const found = byEvent.get(event)
    if (found !== undefined) return found
    if (events >= eventsMax) {
      events = 0
      for (const one of applicable.logs.all) one.byEvent.clear()
    }
    events++
    const chosen = all.filter(({ ofEvent }) => meets(ofEvent, facts))
    byEvent.set(event, chosen)
    return chosen
  }

  return {
    active,
    forSender(kind, apiKeyId, sender) {
      if (active.length === 0) return undefined
      const ofBundle = applicable[kind].find(sender.bundle_identifier)
      if (ofBundle.rules.length === 0) return undefined
      const { device_uuid: device } = sender
      const facts = factsOf(kind, apiKeyId, sender)
      return {
        judge(event) {
          facts.event = event
          const about = event === undefined ? ofBundle.rules : forEvent(ofBundle, event, facts)
          return judge(about, facts, device)
        },
      }
    },
  }
}

function compile(active: ActiveRule, hashValue: (() => Change) | undefined): Compiled {
  const { action, path, match } = active.rule
  const dot = path?.indexOf('.') ?? 0
  const hash = action === 'hash' ? hashValue : undefined
  return {
    active,
    ofEvent: testsAbout(match, 'event'),
    ofSender: testsAbout(match, 'sender'),
    part: path?.slice(0, dot) as EditedPart | undefined,
    edit:
      path === undefined
        ? undefined
        : { active, path: path.slice(dot + 1).replaceAll('%2E', '.'), hash },
  }
}

/** Groups the rules by application. Rules without an application apply to all applications. */
function byBundle(rules: readonly Compiled[]) {
  const bundleOf = ({ active }: Compiled) => active.rule.match.bundle
  const forBundle = (bundle: string | undefined): Applicable => ({
    rules: rules.filter((one) => bundleOf(one) === undefined || bundleOf(one) === bundle),
    byEvent: new Map(),
  })
  const bundles = rules.flatMap((one) => bundleOf(one) ?? [])
  const named = new Map(bundles.map((bundle) => [bundle, forBundle(bundle)]))
  const others = forBundle(undefined)
  return {
    all: [...named.values(), others],
    find: (bundle: string) => named.get(bundle) ?? others,
  }
}

function meets(tests: readonly Test[], facts: RecordFacts): boolean {
  for (const test of tests) if (!test(facts)) return false
  return true
}

/** @param rules in the order of `ruleActions`: those that drop, sample, remove, hash */
function judge(rules: readonly Compiled[], facts: RecordFacts, device: string): Ruling | undefined {
  let sampling: ActiveRule | undefined
  let sampleRate = 1
  let edits: Record<EditedPart, Edit[]> | undefined
  for (const compiled of rules) {
    const { active, ofSender, edit, part } = compiled
    if (!meets(ofSender, facts)) continue
    if (active.rule.action === 'drop') {
      return { outcome: 'dropped', sampleRate: 1, edits: noEdits, acted: [active] }
    }
    if (edit !== undefined && part !== undefined) {
      edits ??= { params: [], device: [], extra: [] }
      edits[part].push(edit)
    } else if (active.rule.rate !== undefined && active.rule.rate < sampleRate) {
      // A device that the lowest rate keeps is also kept by the higher ones.
      sampling = active
      sampleRate = active.rule.rate
    }
  }
  if (sampling === undefined && edits === undefined) return undefined
  const isSampledOut = sampleRate < 1 && deviceShare(device) >= sampleRate
  return {
    outcome: isSampledOut ? 'sampled' : 'accepted',
    sampleRate,
    edits: edits ?? noEdits,
    acted: sampling === undefined ? [] : [sampling],
  }
}

const remove: Change = () => undefined

/** Applies the edits of one part of a record. Returns the same value if they change nothing. */
export function applyEdits<Members extends object>(
  value: Members,
  part: EditedPart,
  { edits, acted }: Ruling,
): Members {
  if (edits[part].length === 0) return value
  let hashOnce: Change | undefined
  const noted = edits[part].map(({ active, path, hash }) => ({
    path,
    change: hash === undefined ? remove : (hashOnce ??= hash()),
    onChange() {
      if (!acted.includes(active)) acted.push(active)
    },
  }))
  return editPaths(value, noted)
}
