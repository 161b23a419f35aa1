import {
  createApiKeyStore,
  hasBudget,
  keyLimitNames,
  keyLimits,
  readUsedToday,
  type ApiKey,
  type ApiKeyStore,
  type KeyLimitName,
  type KeyRules,
  type KeyState,
} from '@intake/access'
import { readSecret } from '@intake/runtime'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { UsageError } from '../endpoints.ts'
import { describeKey, headings, stateOf } from '../keys/describe-key.ts'
import { operator } from '../journal.ts'
import { timeOption } from '../option-values.ts'
import { note, print, printForShell, printJson, printRow } from '../print.ts'
import { changeRedis, withRedis } from '../with-redis.ts'

interface RuleOptions extends Partial<Record<KeyLimitName, number | 'default'>> {
  name?: string
  bundle?: string[]
  origin?: string[]
  expires?: Date | 'never'
  json?: boolean
}

const changes: Record<
  'suspend' | 'resume' | 'revoke',
  { state: KeyState; done: string; description: string }
> = {
  suspend: {
    state: 'suspended',
    done: 'Suspended',
    description: 'refuse requests with a key until it is resumed; senders keep their records',
  },
  resume: {
    state: 'active',
    done: 'Resumed',
    description: 'accept requests with a suspended key again',
  },
  revoke: {
    state: 'revoked',
    done: 'Revoked',
    description: 'refuse requests with a key for good',
  },
}

const guide = `
Gateways follow a change within five seconds. A suspended key gets 403 key_suspended, a revoked or expired one 401:
senders that keep to the contract stop, and keep what they have.

Limits apply to all gateways together. A key without a limit of its own has the gateway's (docs/configuration.md);
"default" returns to it. Beyond a limit of a minute senders get 429 rate_limited, beyond one of a day 429
budget_exhausted until midnight UTC. They lose nothing.

Examples:
  intake keys create --name web --bundle 'com.example.*' --origin https://app.example
  intake keys set key_0123456789ab --events-per-day 5000000
  intake keys suspend key_0123456789ab`

export function define(keys: Command): void {
  keys.addHelpText('after', guide)
  addRules(keys.command('create').description('create a key and show it once'))
    .requiredOption('--name <name>', 'what the key is for')
    .option(
      '--from-env <variable>',
      'take the key from this environment variable, or the file that NAME_FILE names',
    )
    .action((options: RuleOptions & { name: string; fromEnv?: string }) => create(options))

  keys
    .command('list')
    .description('list the keys, without their secrets')
    .option('--json', 'print them as JSON')
    .action(async (options: { json?: boolean }) => {
      const list = await withRedis(async (redis) => {
        const store = createApiKeyStore({ redis })
        await noteUnreadable(store)
        return store.list()
      })
      if (options.json) return printJson(list.map(withState))
      note(list.length === 0 ? 'There are no keys.' : headings.join('\t'))
      for (const key of list) printRow(describeKey(key))
    })

  keys
    .command('show <id>')
    .description('show what a key may do, and what it has used of its budgets today')
    .option('--json', 'print it as JSON')
    .action((id: string, { json }: { json?: boolean }) =>
      withRedis(async (redis) => {
        const store = createApiKeyStore({ redis })
        const key = (await store.list()).find((one) => one.id === id) ?? (await missing(store, id))
        // Gateways count a day only for keys with a budget.
        const usedToday = hasBudget(key.limits)
          ? await readUsedToday(redis, id, Date.now())
          : undefined
        if (json) return printJson({ ...withState(key), usedToday }, 2)
        printKey(key, {})
        for (const [what, used] of Object.entries(usedToday ?? {})) {
          printRow([`${what} used today: ${used}`])
        }
      }),
    )

  addRules(keys.command('set <id>').description('change what a key may do; the rest stays'))
    .option('--name <name>', 'what the key is for')
    .action(async (id: string, options: RuleOptions) => {
      const { name } = options
      const rules = { ...(name !== undefined && { name: checkName(name) }), ...rulesOf(options) }
      if (Object.keys(rules).length === 0) throw new UsageError('There is nothing to change.')
      const key = await changeKeys((store) => store.set(id, rules))
      printKey(key ?? (await missingKey(id)), options)
    })

  for (const [name, { state, done, description }] of Object.entries(changes)) {
    keys
      .command(`${name} <id>`)
      .description(description)
      .option('--json', 'print the key as JSON')
      .action(async (id: string, options: { json?: boolean }) => {
        const key =
          (await changeKeys((store) => store.setState(id, state))) ?? (await missingKey(id))
        if (options.json) printKey(key, options)
        else print(`${done} ${id}.`)
      })
  }
}

function addRules(command: Command): Command {
  command
    .option(
      '--bundle <identifier...>',
      "bundle identifiers it may write for, or prefixes such as 'com.example.*'; '*': all, the default",
    )
    .option(
      '--origin <origin...>',
      "origins whose pages may use it, such as https://app.example; '*': any client, the default",
    )
    .option(
      '--expires <time>',
      'ISO 8601 time from which it is invalid, UTC unless it has an offset; a date means its midnight; "never"',
      parseExpiry,
    )
  for (const [name, description] of Object.entries(keyLimits)) {
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    command.addOption(
      new Option(`--${flag} <n>`, description).argParser((text: string) => parseLimit(flag, text)),
    )
  }
  return command.option('--json', 'print the key as JSON')
}

async function create(options: RuleOptions & { name: string; fromEnv?: string }): Promise<void> {
  const name = checkName(options.name)
  const secret = options.fromEnv === undefined ? undefined : requireSecret(options.fromEnv)
  await changeKeys(async (store) => {
    const created = await store.create({ name, ...rulesOf(options), ...(secret && { secret }) })
    if (!created.created) {
      throw new UsageError(`This key already exists as ${created.key.id}; nothing was changed.`)
    }
    const { id, ...rest } = withState(created.key)
    if (options.json) return printJson({ id, key: created.secret, ...rest }, 2)
    printForShell(created.secret)
    note(`Created ${id}. The key above is not shown again.`)
  })
}

function rulesOf({ bundle, origin, expires, ...options }: RuleOptions): KeyRules {
  const limits = Object.fromEntries(
    keyLimitNames.flatMap((name) => {
      const limit = options[name]
      return limit === undefined ? [] : [[name, limit === 'default' ? null : limit]]
    }),
  )
  return {
    ...(bundle && { bundleIdentifiers: allOr(bundle) }),
    ...(origin && { origins: allOr(origin) }),
    ...(expires !== undefined && { expiresAt: expires === 'never' ? null : expires }),
    ...(Object.keys(limits).length > 0 && { limits }),
  }
}

/** The single entry `*` means all, which is stored as an empty list. */
const allOr = (entries: string[]) => (entries.length === 1 && entries[0] === '*' ? [] : entries)

function parseLimit(flag: string, text: string): number | 'default' {
  if (text === 'default') return text
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`--${flag} must be a whole number from 1, or "default".`)
}

function checkName(name: string): string {
  if (name.trim() === '') throw new UsageError('--name must not be empty.')
  return name
}

const withState = (key: ApiKey) => ({ ...key, state: stateOf(key) })

function printKey(key: ApiKey, { json }: { json?: boolean }): void {
  if (json) printJson(withState(key), 2)
  else for (const line of describeKey(key)) printRow([line])
}

/** A change that finds no key is confirmed before: it may repeat one that was not. */
const missingKey = (id: string) => withRedis((redis) => missing(createApiKeyStore({ redis }), id))

async function missing(store: ApiKeyStore, id: string): Promise<never> {
  await noteUnreadable(store)
  throw new UsageError(`There is no key ${id} that can be read, or it is revoked.`)
}

/** A gateway that read such an entry before it was damaged still accepts its key. */
async function noteUnreadable(store: ApiKeyStore): Promise<void> {
  for (const name of (await store.load()).unreadable.values()) {
    note(
      `${name} cannot be read, and may still be accepted: docs/operations/redis-lost-its-data.md`,
    )
  }
}

const changeKeys = <T>(change: (store: ApiKeyStore) => Promise<T>): Promise<T> =>
  changeRedis((redis) => change(createApiKeyStore({ redis, who: operator() })).catch(asUsage))

/** Converts a `RangeError`, which the store throws for invalid rules, to a `UsageError`. */
function asUsage(error: unknown): never {
  throw error instanceof RangeError ? new UsageError(`${error.message}.`) : error
}

function requireSecret(variable: string): string {
  const secret = readSecret(process.env, variable)
  if (!secret) throw new UsageError(`${variable} is not set.`)
  return secret
}

function parseExpiry(text: string): Date | 'never' {
  if (text === 'never') return text
  const date = timeOption(text)
  if (date.getTime() > Date.now()) return date
  throw new InvalidArgumentError('It must be in the future.')
}
