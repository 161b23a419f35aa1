import { quantity } from '@intake/runtime'
import { Cluster } from 'ioredis'
import { ReplyError, type Redis } from './connect.ts'
import { infoField, replyCode } from './replies.ts'
import { mainTag, nameOf, primaryOf, requireConnection, tagPerPrimary } from './servers.ts'

const replica = 'Redis is a replica'
const wrongPassword = 'Redis does not accept the user and password in REDIS_URL'

const reasons: Record<string, string> = {
  READONLY: replica,
  MASTERDOWN: `${replica} and has lost its primary`,
  LOADING: 'Redis is loading its data',
  MISCONF: 'Redis cannot write to its disk',
  NOREPLICAS: 'Redis has fewer replicas than min-replicas-to-write',
  NOAUTH: wrongPassword,
  WRONGPASS: wrongPassword,
  NOPERM: 'the user in REDIS_URL lacks a permission',
  OOM: 'Redis uses all of its memory: raise its maxmemory (REDIS_MAXMEMORY of npm start)',
  MOVED: 'Redis is a node of a cluster: REDIS_URL must begin with redis+cluster://',
  CLUSTERDOWN: 'Redis Cluster has lost a primary',
  TRYAGAIN: 'Redis Cluster moves the keys to another node',
}

/**
 * Resolves to the reason why Redis accepts no writes, in words for an operator; in a cluster it
 * names the server.
 *
 * Redis refuses a write without effect for most of the reasons. Two are checked here: too few
 * replicas; and a replica that accepts writes, although its next synchronization deletes them. No
 * error makes the client leave such a one, so this function closes the connection.
 *
 * Exhausted memory is not one of the reasons: see `RedisState.memoryUsed` and `requireMemory`.
 *
 * @param options.tags every server that holds keys of these hash tags is asked
 * @param options.replicasMin how many replicas each of these servers must have
 * @throws when Redis does not respond
 */
export async function findWriteRefusal(
  redis: Redis,
  options: { tags?: readonly string[]; replicasMin?: number } = {},
): Promise<string | undefined> {
  const { tags = [mainTag], replicasMin = 0 } = options
  const refusals = await Promise.all(
    tagPerPrimary(redis, tags).map((tag) => refusalOf(redis, tag, replicasMin)),
  )
  return refusals.find((refusal) => refusal !== undefined)
}

async function refusalOf(
  redis: Redis,
  tag: string,
  replicasMin: number,
): Promise<string | undefined> {
  try {
    // Deletes a key that is never written. If the keys of a cluster have moved, the connection also
    // learns where to.
    const deleted = redis.del(`${tag}:absent`)
    if (redis instanceof Cluster) await deleted
    const [, replication] = await Promise.all([deleted, primaryOf(redis, tag).info('replication')])
    if (infoField(replication, 'role') === 'slave') {
      // After a failover the same address leads to the new primary, but only with a new connection.
      if (!(redis instanceof Cluster)) redis.disconnect(true)
      return withServer(redis, tag, replica)
    }
    const replicas = replication.match(/^slave\d+:.*state=online/gm)?.length ?? 0
    if (replicas >= replicasMin) return undefined
    return withServer(
      redis,
      tag,
      `Redis has ${quantity(replicas, 'replica')}, and REDIS_ACK_REPLICAS is ${replicasMin}`,
    )
  } catch (error) {
    return describeRefusalOf(redis, tag, error)
  }
}

/**
 * Describes why the server of a hash tag refused a command; in a cluster names it.
 *
 * @throws the error if it is not an error reply of Redis
 */
export function describeRefusalOf(redis: Redis, tag: string, error: unknown): string {
  const refusal = describeRefusal(error)
  // The servers that are left return CLUSTERDOWN, so the one that replied is not named.
  return replyCode(error as Error) === 'CLUSTERDOWN' ? refusal : withServer(redis, tag, refusal)
}

const withServer = (redis: Redis, tag: string, refusal: string): string =>
  redis instanceof Cluster ? `${nameOf(redis, tag)}: ${refusal}` : refusal

/** @throws the error if it is not an error reply of Redis */
export function describeRefusal(error: unknown): string {
  if (!(error instanceof ReplyError)) throw error
  const code = replyCode(error as Error)
  return reasons[code] ?? `Redis refuses commands${code === '' ? '' : ` (${code})`}`
}

/** A command was not sent, because it is known that Redis would refuse it. */
export class RefusedError extends Error {
  override name = 'RefusedError'
}

/** Whether a command was certainly not executed; after any other error it may have been. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof ReplyError || error instanceof RefusedError || isRedirectedTooOften(error)
}

/** How `retryUntil` repeats a command until Redis replies: an error reply is final. */
export const commandRetries = { attemptTimeoutMs: 1_500, pauseMs: 100, isFinal: isRefusal } as const

/**
 * ioredis says only in the message that there were too many redirections. The last error must be a
 * reply: after a lost connection, the command may have been executed.
 */
const isRedirectedTooOften = (error: unknown): boolean =>
  error instanceof Error &&
  error.message.startsWith('Too many Cluster redirections. Last error: ReplyError')

/**
 * Rejects while there is no connection, or while a server uses all of its `maxmemory`: it then
 * stores nothing, but still deletes. Waits for all servers, so that an unreachable one does not
 * hide a full one.
 */
export async function requireMemory(redis: Redis, tags: readonly string[] = [mainTag]) {
  const replies = await Promise.allSettled(
    tagPerPrimary(redis, tags).map(async (tag) => {
      await requireConnection(redis, tag)
      // XX requires a key, and this one never exists: nothing changes, but a full Redis refuses it.
      await redis.set(`${tag}:absent`, '', 'XX')
    }),
  )
  const errors = replies.flatMap((reply) => (reply.status === 'rejected' ? [reply.reason] : []))
  if (errors.length > 0) throw errors.find(isOutOfMemory) ?? errors[0]
}

export function isOutOfMemory(error: unknown): boolean {
  return error instanceof ReplyError && replyCode(error as Error) === 'OOM'
}
