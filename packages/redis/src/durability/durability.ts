import { ReplyError, type Server } from '../connect.ts'
import { titleOf, type Primary } from '../servers.ts'

const required = {
  appendonly: 'yes',
  appendfsync: 'always',
  // With `yes`, nothing is synced while Redis rewrites its log, even with `appendfsync always`.
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
}

export interface Durability {
  /** In words for an operator. A setting that cannot be read gives no reason. */
  violations: string[]
  /** Whether a server does not allow reading a setting, as managed servers often do. */
  isUnreadable: boolean
}

/** Every setting of the server that allows a loss of data is a violation. */
export async function readDurability(
  { name, redis }: Primary,
  isReplica = false,
): Promise<Durability> {
  const settings = await Promise.all(
    Object.entries(required).map(async ([setting, wanted]) => {
      return { setting, wanted, actual: await readSetting(redis, setting) }
    }),
  )
  const title = titleOf({ name, isReplica })
  return {
    violations: settings.flatMap(({ setting, wanted, actual }) =>
      actual === undefined || actual === wanted
        ? []
        : [`${title} has ${setting} ${actual}, not ${wanted}`],
    ),
    isUnreadable: settings.some(({ actual }) => actual === undefined),
  }
}

/** Undefined if the server does not allow reading the setting. */
export async function readSetting(redis: Server, name: string): Promise<string | undefined> {
  try {
    const [, value] = await redis.config('GET', name)
    return value
  } catch (error) {
    if (error instanceof ReplyError) return undefined
    throw error
  }
}
