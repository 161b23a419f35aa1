import { ReplyError, type Redis } from './connect.ts'
import { infoField } from './info-field.ts'
import { replyCode } from './reply-code.ts'

/** Never written: deleting it is a write without effect. */
const absentKey = '{intake}:absent'

const replica = 'Redis is a replica'

const reasons: Record<string, string> = {
  READONLY: replica,
  MASTERDOWN: `${replica} and has lost its primary`,
  LOADING: 'Redis is loading its data',
  MISCONF: 'Redis cannot write to its disk',
  NOREPLICAS: 'Redis has fewer replicas than min-replicas-to-write',
  NOAUTH: 'Redis does not accept the password',
  WRONGPASS: 'Redis does not accept the password',
  NOPERM: 'the user in REDIS_URL lacks a permission',
}

/**
 * Why this Redis accepts no writes, in words for an operator; undefined: it accepts them. It sends a
 * write without effect, which detects every reason, and reads the role, because a replica can be
 * configured to accept writes that its next synchronisation deletes. Such a replica returns no error
 * that would close the connection, so this function closes it.
 *
 * Exhausted memory is not one of the reasons: see `RedisState.memoryUsed`.
 *
 * @throws when Redis does not respond
 */
export async function findWriteRefusal(redis: Redis): Promise<string | undefined> {
  try {
    const [replication] = await Promise.all([redis.info('replication'), redis.del(absentKey)])
    if (infoField(replication, 'role') !== 'slave') return undefined
    // After a failover the same address leads to the new primary, but only for a new connection.
    redis.disconnect(true)
    return replica
  } catch (error) {
    return describeRefusal(error)
  }
}

/** @throws the error when it is not an error reply of Redis */
export function describeRefusal(error: unknown): string {
  if (!(error instanceof ReplyError)) throw error
  const code = replyCode(error as Error)
  return reasons[code] ?? `Redis refuses commands${code === '' ? '' : ` (${code})`}`
}

/** Whether Redis refused a command because it uses all of its `maxmemory`. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof ReplyError && replyCode(error as Error) === 'OOM'
}
