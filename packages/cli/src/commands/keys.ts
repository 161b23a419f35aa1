import { createApiKeyStore, type ApiKeyStore } from '@intake/access'
import { parseTime, readSecret, timeForm } from '@intake/runtime'
import type { Command } from 'commander'
import { confirmChange } from '../confirm-change.ts'
import { UsageError } from '../endpoints.ts'
import { withRedis } from '../with-redis.ts'
import { note, print, printForShell, printJson, printRow } from '../print.ts'

interface CreateOptions {
  name: string
  bundle?: string[]
  expires?: string
  fromEnv?: string
}

/** `intake keys create|list|revoke`: manages API keys. Running gateways follow within seconds. */
export function defineKeys(keys: Command): void {
  keys
    .command('create')
    .description('create a key and show it once')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--bundle <identifier...>', 'bundle identifiers it may write for (default: all)')
    .option(
      '--expires <time>',
      'ISO 8601 time from which it is invalid, UTC unless it has an offset; a date means its midnight',
    )
    .option(
      '--from-env <variable>',
      'take the key from this environment variable, or the file that NAME_FILE names',
    )
    .action(async (options: CreateOptions) => {
      if (options.name.trim() === '') throw new UsageError('--name must not be empty.')
      const secret = options.fromEnv === undefined ? undefined : requireSecret(options.fromEnv)
      await changeKeys(async (store) => {
        const created = await store.create({
          name: options.name,
          ...(options.bundle && { bundleIdentifiers: options.bundle }),
          ...(options.expires !== undefined && { expiresAt: parseFuture(options.expires) }),
          ...(secret && { secret }),
        })
        if (!created.created) {
          throw new UsageError(`This key already exists as ${created.key.id}; nothing was changed.`)
        }
        printForShell(created.secret)
        note(`Created ${created.key.id}. The key above is not shown again.`)
      })
    })

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
      if (options.json) return printJson(list)
      for (const { id, name, bundleIdentifiers, createdAt, expiresAt, revokedAt } of list) {
        const bundles = bundleIdentifiers.join(',') || 'all bundles'
        printRow([
          id,
          name,
          bundles,
          `created ${createdAt}`,
          revokedAt === null ? `expires ${expiresAt ?? 'never'}` : `revoked ${revokedAt}`,
        ])
      }
    })

  keys
    .command('revoke <id>')
    .description('revoke the key with this id')
    .action((id: string) =>
      changeKeys(async (store) => {
        if (!(await store.revoke(id))) {
          await noteUnreadable(store)
          throw new UsageError(`There is no key ${id} that can be read, or it is revoked.`)
        }
        print(`Revoked ${id}.`)
      }),
    )
}

/**
 * Notes damaged entries. A key with a damaged entry is not listed, although gateways that know it
 * still accept it.
 */
async function noteUnreadable(store: ApiKeyStore): Promise<void> {
  for (const name of (await store.load()).unreadable.values()) {
    note(
      `${name} cannot be read, and may still be accepted: docs/operations/redis-lost-its-data.md`,
    )
  }
}

const changeKeys = (change: (store: ApiKeyStore) => Promise<void>): Promise<void> =>
  withRedis((redis) => confirmChange(redis, () => change(createApiKeyStore({ redis }))))

function requireSecret(variable: string): string {
  const secret = readSecret(process.env, variable)
  if (!secret) throw new UsageError(`${variable} is not set.`)
  return secret
}

function parseFuture(text: string): Date {
  const date = parseTime(text)
  if (date === undefined) throw new UsageError(`--expires must be ${timeForm}.`)
  if (date.getTime() <= Date.now()) throw new UsageError('--expires must be in the future.')
  return date
}
