import { deviceFields, type RecordKind } from '@intake/contract'
import { quoteWord } from '@intake/runtime'
import { parseEntry, type Entry } from '../entries.ts'
import {
  conditionNames,
  conditions,
  conditionsAbout,
  isConditionValue,
  textLengthMax,
  type RuleMatch,
} from './conditions.ts'

export const ruleActions = ['drop', 'sample', 'remove', 'hash'] as const
export type RuleAction = (typeof ruleActions)[number]

/** An operator's decision about records of apps that are already shipped. A rule never changes. */
export interface Rule extends Entry {
  action: RuleAction
  /** The fraction of devices whose records are stored, between 0 and 1; only for `sample`. */
  rate?: number
  /** The field: `params.…`, `device.…` or `extra.…`; only for `remove` and `hash`. */
  path?: string
  match: RuleMatch
}

/** The part of a rule that an operator chooses. */
export type RuleChoice = Pick<Rule, 'action' | 'rate' | 'path' | 'match'>

export const rulesMax = 100

const unhashable: ReadonlySet<string> = new Set(
  deviceFields.filter(({ kind }) => kind !== 'text').map(({ name }) => name),
)

export function concerns({ action, path, match }: RuleChoice, kind: RecordKind): boolean {
  if (match.kind !== undefined && match.kind !== kind) return false
  // A feedback is never sampled, because a person wrote it.
  return kind === 'logs' || !(action === 'sample' || isAboutEvents(path, match))
}

const isAboutEvents = (path: string | undefined, match: RuleMatch) =>
  conditionsAbout(match, 'event').length > 0 || path?.startsWith('params.') === true

/** Why a rule may not be added, as a sentence for an operator. */
export const findRuleProblem = (rule: RuleChoice): string | undefined =>
  findActionProblem(rule) ?? findMatchProblem(rule)

function findActionProblem({ action, rate, path, match }: RuleChoice): string | undefined {
  if (action !== 'sample' && rate !== undefined) return `A rule to ${action} has no rate.`
  if (action === 'drop' || action === 'sample') {
    if (path !== undefined) return `A rule to ${action} has no path.`
    const isShare = typeof rate === 'number' && rate > 0 && rate < 1
    if (action === 'sample' && !isShare)
      return 'The rate must be more than 0 and less than 1, such as 0.1.'
    const isLimited = Object.keys(match).some((name) => name !== 'kind')
    if (isLimited) return undefined
    return `A rule to ${action} needs a condition, or it would be for everything.`
  }
  if (path === undefined || path.length > textLengthMax || !isPath.test(path)) {
    return 'The path must begin with params., device. or extra., such as params.email.'
  }
  if (action === 'hash' && isUnhashable(path)) {
    return `The column of ${path} cannot hold a hash; remove it instead.`
  }
  return undefined
}

function isUnhashable(path: string): boolean {
  const [root, field = ''] = path.split('.')
  return root === 'device' && unhashable.has(field)
}

const isPath = /^(params|device|extra)(\.[^.]+)+$/

function findMatchProblem(rule: RuleChoice): string | undefined {
  const { match } = rule
  const { kind, event, eventPrefix, versionCodeBelow: below, versionCodeFrom: from } = match
  const wrong = conditionNames.find(
    (name) => match[name] !== undefined && !isConditionValue(name, match[name]),
  )
  if (wrong !== undefined) return wrongValue[conditions[wrong].type]
  if (match.bundle?.endsWith('.*') === true) {
    return 'A rule is about one application, or about all; it takes no pattern such as com.example.*.'
  }
  if (event !== undefined && eventPrefix !== undefined) {
    return 'Give an event or the beginning of events, not both.'
  }
  if (below !== undefined && from !== undefined && from >= below) {
    return 'No version code is both that high and that low.'
  }
  if (kind !== undefined && !concerns(rule, kind)) return wrongKind
  return undefined
}

const wrongKind = 'Only log events are sampled, and only they have events and params.'
const wrongValue = {
  text: `A condition is a text of 1 to ${textLengthMax} characters.`,
  integer: 'A version code is an integer.',
  kind: wrongKind,
}

/**
 * Reads a stored rule; undefined if it cannot be read, or has a condition of a later version:
 * without it, the rule would apply to too many records.
 *
 * A rule to hash a device field that has got a column that cannot hold a hash becomes a rule to
 * remove it.
 */
export function parseRule(json: string): Rule | undefined {
  const rule: Partial<Rule> = parseEntry('rule', json) ?? {}
  const { action, match } = rule
  if (!ruleActions.some((one) => one === action)) return undefined
  if (typeof match !== 'object' || match === null) return undefined
  if (!Object.keys(match).every((name) => Object.hasOwn(conditions, name))) return undefined
  const isRemoved = action === 'hash' && typeof rule.path === 'string' && isUnhashable(rule.path)
  const read = { ...rule, ...(isRemoved && { action: 'remove' }) } as Rule
  return findRuleProblem(read) === undefined ? read : undefined
}

/** Prints a rule in one line, as the arguments of `intake rules add` that would add it again. */
export function describeRule({ action, rate, path, match }: RuleChoice): string {
  const chosen = conditionNames.flatMap((name) => {
    const [option = ''] = conditions[name].option.split(' ')
    return match[name] === undefined ? [] : [option, String(match[name])]
  })
  return [action, rate ?? path ?? [], ...chosen].flat().map(String).map(quoteWord).join(' ')
}
