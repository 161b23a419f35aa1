import { quantity, tryJson } from '@intake/runtime'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import {
  compileRules,
  conditionNames,
  conditions,
  createApiKeyStore,
  createPolicyStore,
  describeRule,
  findRuleProblem,
  ruleActions,
  rulesMax,
  type Rule,
  type RuleAction,
  type RuleChoice,
  type RuleMatch,
} from '@intake/access'
import { kinds } from '@intake/contract'
import type { Redis } from '@intake/redis'
import { Argument, Option, type Command } from 'commander'
import { UsageError } from '../endpoints.ts'
import { operator } from '../journal.ts'
import { numberOption } from '../option-values.ts'
import { note, print, printJson, printJsonLine, printRow } from '../print.ts'
import { dryRun, type DryRun } from '../rules/dry-run.ts'
import { formatTable } from '../table.ts'
import { changeRedis, withRedis } from '../with-redis.ts'

interface AddOptions {
  dryRun?: boolean
  by: string
  json?: boolean
}

const statementTimeoutMs = 5 * 60_000

const addGuide = `
drop          acknowledge such records, and store none of them
sample 0.1    keep the log events of one device in ten, with sample_rate 0.1
remove <path> leave a field out: params.email, device.serial, extra.log.debug
hash <path>   replace a field by its hash, which is the same for the same value

A record must meet every condition; a rule without conditions is for all records (drop and sample need one). A record
without version_code meets no condition on it. Rules to drop, remove and hash also apply to feedback, unless they are
about events or params; --kind logs excludes it. Gateways follow within 5 seconds. --dry-run adds nothing: it counts
the records of the last day that the rule would have matched.

Examples:
  intake rules add drop --bundle com.example.app --event-prefix debug_ --version-code-below 120 --dry-run
  intake rules add sample 0.1 --bundle com.example.app --event scroll
  intake rules add remove params.email --bundle com.example.app`

export function define(rules: Command): void {
  defineAdd(rules)
  defineList(rules)
  defineRemove(rules)
  defineTest(rules)
}

const parseInteger = numberOption({
  min: -Infinity,
  pattern: /^-?\d{1,15}$/,
  message: 'Give an integer.',
})
const conditionOptions = Object.fromEntries(
  conditionNames.map((name) => {
    const { option, help, type } = conditions[name]
    const defined = new Option(option, help)
    if (type === 'integer') defined.argParser(parseInteger)
    if (type === 'kind') defined.choices(kinds)
    return [name, defined]
  }),
)

function defineAdd(rules: Command): void {
  const add = rules
    .command('add')
    .addArgument(new Argument('<action>', 'what is done').choices(ruleActions))
    .argument('[value]', 'the rate of sample, or the path of remove and hash')
    .description('drop, sample or change records, without an update of the apps')
  for (const option of Object.values(conditionOptions)) add.addOption(option)
  add
    .option('--dry-run', 'only count the records of the last day that the rule would have matched')
    .option('--by <who>', 'who adds it, for the journal', operator())
    .option('--json', 'print the rule, or the counts of --dry-run, as JSON')
    .addHelpText('after', addGuide)
    .action(async (action: RuleAction, value: string | undefined, options: AddOptions) => {
      const choice = readChoice(action, value, options)
      await withRedis((redis) => requireKey(redis, choice))
      if (options.dryRun) return showDryRun(choice, options)
      const rule = await addRule(choice, options.by)
      if (options.json) return printJson(rule)
      printRow([`Added ${rule.id}: ${describeRule(rule)}`])
      print('Gateways follow within 5 seconds.')
    })
}

function defineList(rules: Command): void {
  rules
    .command('list')
    .description('list the rules, oldest first')
    .option('--json', 'print them as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { rules: list } = await withRedis(loadPolicy)
      if (json) return printJson(list)
      if (list.length === 0) note('There are no rules.')
      for (const rule of list) {
        printRow([rule.id, describeRule(rule), `added ${rule.createdAt}`, `by ${rule.createdBy}`])
      }
    })
}

function defineRemove(rules: Command): void {
  rules
    .command('remove <id>')
    .description('remove the rule with this id; gateways follow within 5 seconds')
    .option('--by <who>', 'who removes it, for the journal', operator())
    .option('--json', 'print the removed rule as JSON')
    .action(async (id: string, { by, json }: { by: string; json?: boolean }) => {
      const removed = await changeRedis((redis) =>
        createPolicyStore({ redis, who: by }).removeRule(id),
      )
      if (removed === undefined) throw new UsageError(`There is no rule ${id}.`)
      const rule = removed === 'unreadable' ? { id } : removed
      if (json) printJson(rule)
      else print(`Removed ${id}.`)
    })
}

function defineTest(rules: Command): void {
  rules
    .command('test [file]')
    .description('show what the rules would do with a sample record')
    .option('--key <id>', 'the API key that the record would come with, by its id')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
The file, or standard input, has one body as apps send it: of /api/log, of /api/log/batch, or the payload of
/api/feedback. It goes through the code of the gateway, in memory; nothing is stored.

Example:
  intake rules test sample.json`,
    )
    .action(async (file: string | undefined, options: { key?: string; json?: boolean }) => {
      const json = file === undefined ? await text(process.stdin) : await readFile(file, 'utf8')
      if (tryJson(json) === undefined) throw new UsageError('The sample record is not JSON.')
      const { rules: list, secret } = await withRedis(loadPolicy)
      const compiled = compileRules({ rules: list, secret })
      // Loads the sandbox only here, because it contains the whole gateway.
      const { tryRecord } = await import('@intake/sandbox')
      const { status, code, counts, records } = await tryRecord({
        json,
        rules: compiled,
        ...(options.key !== undefined && { apiKeyId: options.key }),
      })
      const acted = compiled.active.filter(({ matches }) => matches > 0)
      if (options.json) {
        const result = { status, code, ...counts, rules: acted.map(({ rule }) => rule.id) }
        const head = JSON.stringify(result).slice(0, -1)
        return printJsonLine(`${head},"records":[${records.join()}]}`)
      }
      print(`${status}${code === undefined ? '' : ` ${code}`}`)
      for (const [outcome, count] of Object.entries(counts)) print(`${outcome}: ${count}`)
      for (const { rule } of acted) printRow([rule.id, describeRule(rule)])
      for (const record of records) await printJsonLine(record)
    })
}

function readChoice(
  action: RuleAction,
  value: string | undefined,
  options: AddOptions,
): RuleChoice {
  const given = options as unknown as Record<string, unknown>
  const match: RuleMatch = Object.fromEntries(
    Object.entries(conditionOptions)
      .map(([name, option]) => [name, given[option.attributeName()]] as const)
      .filter(([, wanted]) => wanted !== undefined),
  )
  const isSample = action === 'sample'
  const choice: RuleChoice = {
    action,
    ...(value !== undefined && (isSample ? { rate: Number(value) } : { path: value })),
    match,
  }
  const problem = findRuleProblem(choice)
  if (problem !== undefined) throw new UsageError(problem)
  return choice
}

/** Refuses a rule whose API key does not exist or is revoked. */
async function requireKey(redis: Redis, { match: { apiKeyId } }: RuleChoice): Promise<void> {
  if (apiKeyId === undefined) return
  const keys = await createApiKeyStore({ redis }).list()
  if (!keys.some(({ id, revokedAt }) => id === apiKeyId && revokedAt === null)) {
    throw new UsageError(`There is no API key ${apiKeyId} in use; intake keys list shows them.`)
  }
}

async function addRule(choice: RuleChoice, by: string): Promise<Rule> {
  const rule = await changeRedis((redis) => createPolicyStore({ redis }).addRule(choice, by))
  if (rule !== undefined) return rule
  throw new UsageError(`There are ${rulesMax} rules; remove one first.`)
}

async function loadPolicy(redis: Redis) {
  const policy = await createPolicyStore({ redis }).load()
  if (policy === undefined) throw new Error('the policy could not be read')
  for (const id of policy.unreadableRules) {
    note(
      `${id} cannot be read, and new gateways do not follow it: docs/operations/redis-lost-its-data.md`,
    )
  }
  return policy
}

async function showDryRun(choice: RuleChoice, { json }: AddOptions): Promise<void> {
  const { withClickHouse } = await import('../clickhouse.ts')
  const met = await withClickHouse((clickhouse) => dryRun(clickhouse, choice), {
    requestTimeoutMs: statementTimeoutMs,
  })
  if (json) return printJson(met)
  print(describeDryRun(met))
}

function describeDryRun({ records, devices, not_stored: notStored, by_version: versions }: DryRun) {
  const rows = versions.map((one) => [
    String(one.version_code ?? '?'),
    one.version_name ?? '?',
    String(one.records),
    String(one.devices),
    String(one.not_stored),
  ])
  const heads = ['version_code', 'version_name', 'records', 'devices', 'not stored']
  return [
    `In the last day it would have matched ${quantity(records, 'record')} of ${quantity(devices, 'device')}; ${notStored} would not be stored.`,
    ...(rows.length === 0 ? [] : [formatTable([heads, ...rows])]),
  ].join('\n\n')
}
