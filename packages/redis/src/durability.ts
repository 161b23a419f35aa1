import { ReplyError, type Server } from './connect.ts'
import { titleOf, type Primary } from './servers.ts'

const required = {
  appendonly: 'yes',
  appendfsync: 'always',
  // Otherwise nothing is synced while Redis rewrites its log, whatever appendfsync says.
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
}

/** What is known of whether Redis could lose data that it has confirmed. */
export interface Durability {
  /** Why it could, in words for an operator; empty: it could not, as far as can be read. */
  violations: string[]
  /** Servers do not let this user read settings, as managed ones often do. */
  isUnreadable: boolean
}

/** Of the servers together: one that could lose data is enough. */
export async function readDurability(
  servers: readonly (Primary & { isReplica?: boolean })[],
): Promise<Durability> {
  const settings = await Promise.all(
    servers.flatMap(({ name, redis, isReplica = false }) =>
      Object.entries(required).map(async ([setting, wanted]) => {
        const actual = await readSetting(redis, setting)
        return { server: titleOf({ name, isReplica }), setting, wanted, actual }
      }),
    ),
  )
  return {
    violations: settings.flatMap(({ server, setting, wanted, actual }) =>
      actual === undefined || actual === wanted
        ? []
        : [`${server} has ${setting} ${actual}, not ${wanted}`],
    ),
    isUnreadable: settings.some(({ actual }) => actual === undefined),
  }
}

/** Undefined: the server does not tell. */
async function readSetting(redis: Server, name: string): Promise<string | undefined> {
  try {
    const [, value] = await redis.config('GET', name)
    return value
  } catch (error) {
    if (error instanceof ReplyError) return undefined
    throw error
  }
}
