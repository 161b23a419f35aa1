import { kinds, type RecordKind } from '@intake/contract'
import type { Sender } from '@intake/contract/schemas'

/** What conditions compare. */
export type RecordFacts = ReturnType<typeof factsOf>

export function factsOf(kind: RecordKind, apiKeyId: string, { bundle_identifier, device }: Sender) {
  const { os, version_code: code, version_name: versionName } = device
  return {
    kind,
    bundle: bundle_identifier,
    /** The name of a log event; undefined for a feedback. */
    event: undefined as string | undefined,
    apiKeyId,
    os: typeof os === 'string' ? os.toLowerCase() : undefined,
    /** NaN if the version code is unknown, so that every comparison with it is false. */
    versionCode: typeof code === 'number' || typeof code === 'bigint' ? code : Number.NaN,
    versionName,
  }
}

export type Test = (facts: RecordFacts) => boolean

export interface Condition<Value extends string | number = never> {
  type: 'text' | 'integer' | 'kind'
  /**
   * Rules are looked up by kind, bundle and event, so conditions on these are not tested for each
   * record; only records with an event meet one on the event.
   */
  about: 'kind' | 'bundle' | 'event' | 'sender'
  /** The option of `intake rules add` that sets the condition. */
  option: string
  /** When the condition is met, for the help and docs/rules.md. */
  help: string
  /** Returns the test of a record. A record without the field does not meet the condition. */
  test: (wanted: Value) => Test
  /**
   * The same test on a row of the views, with a parameter of the condition's name; undefined if the
   * condition only selects the view.
   */
  sql: string | undefined
}

const text = (
  condition: Omit<Condition<string>, 'type' | 'about'> & Partial<Condition<string>>,
): Condition<string> => ({
  type: 'text',
  about: 'sender',
  ...condition,
})
const integer = (condition: Omit<Condition<number>, 'type' | 'about'>): Condition<number> => ({
  type: 'integer',
  about: 'sender',
  ...condition,
})

/** A new condition needs its row here; if it compares something new, also a fact above. */
export const conditions = {
  kind: {
    type: 'kind',
    about: 'kind',
    option: '--kind <kind>',
    help: `only ${kinds.join(' or ')}`,
    test: (kind: RecordKind) => (facts: RecordFacts) => facts.kind === kind,
    sql: undefined,
  },
  bundle: text({
    about: 'bundle',
    option: '--bundle <identifier>',
    help: 'bundle identifier of the application',
    test: (bundle) => (facts) => facts.bundle === bundle,
    sql: 'bundle_identifier = {bundle:String}',
  }),
  event: text({
    about: 'event',
    option: '--event <name>',
    help: 'name of the event',
    test: (event) => (facts) => facts.event === event,
    sql: 'event = {event:String}',
  }),
  eventPrefix: text({
    about: 'event',
    option: '--event-prefix <text>',
    help: 'beginning of the name of the event',
    test: (prefix) => (facts) => facts.event?.startsWith(prefix) === true,
    sql: 'startsWith(event, {eventPrefix:String})',
  }),
  versionCodeBelow: integer({
    option: '--version-code-below <number>',
    help: 'device.version_code below this',
    test: (limit) => (facts) => facts.versionCode < limit,
    sql: 'device.version_code < {versionCodeBelow:Int64}',
  }),
  versionCodeFrom: integer({
    option: '--version-code-from <number>',
    help: 'device.version_code from this on',
    test: (limit) => (facts) => facts.versionCode >= limit,
    sql: 'device.version_code >= {versionCodeFrom:Int64}',
  }),
  versionName: text({
    option: '--version-name <text>',
    help: 'device.version_name',
    test: (name) => (facts) => facts.versionName === name,
    sql: 'device.version_name = {versionName:String}',
  }),
  os: text({
    option: '--os <name>',
    // Some libraries report `Android`, others `android`.
    help: 'device.os, in capitals or not',
    test(os) {
      const lower = os.toLowerCase()
      return (facts) => facts.os === lower
    },
    sql: 'lowerUTF8(device.os) = lowerUTF8({os:String})',
  }),
  apiKeyId: text({
    option: '--key <id>',
    help: 'the API key, by its id',
    test: (id) => (facts) => facts.apiKeyId === id,
    sql: 'api_key_id = {apiKeyId:String}',
  }),
} as const

type Conditions = typeof conditions
export type ConditionName = keyof Conditions

/** A rule applies to the records that meet every condition that is set. */
export type RuleMatch = {
  [Name in ConditionName]?: Parameters<Conditions[Name]['test']>[0]
}

export const conditionNames = Object.keys(conditions) as ConditionName[]

export const conditionsAbout = (match: RuleMatch, about: Condition['about']): ConditionName[] =>
  conditionNames.filter((name) => match[name] !== undefined && conditions[name].about === about)

export const testsAbout = (match: RuleMatch, about: Condition['about']): Test[] =>
  conditionsAbout(match, about).map((name) =>
    (conditions[name].test as (wanted: unknown) => Test)(match[name]),
  )

export function isConditionValue(name: ConditionName, value: unknown): boolean {
  const { type } = conditions[name]
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type === 'kind') return kinds.some((kind) => kind === value)
  return typeof value === 'string' && value !== '' && value.length <= textLengthMax
}

export const textLengthMax = 255
