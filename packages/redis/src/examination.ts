import { Cluster } from 'ioredis'
import type { Redis, Server } from './connect.ts'
import { installationKeyOf } from './installation.ts'
import { mainTag, nameOf, primaryOf, requireConnection } from './servers.ts'
import { findWriteRefusal, RefusedError } from './write-refusal.ts'

export type Examination = ReturnType<typeof createExamination>

/**
 * Examines each socket of a connection once, when it is first used.
 *
 * @param options.tags hash tags that have a mark. A server with none of them must only be a primary
 * @param options.refusalOf why nothing may be written to the server of a hash tag, if known
 * otherwise
 */
export function createExamination(options: {
  redis: Redis
  tags?: readonly string[]
  refusalOf?: (tag: string) => string | undefined
}) {
  const { redis, tags = [mainTag], refusalOf } = options
  /** The only server; undefined in a cluster, where a hash tag says which server is meant. */
  const only = redis instanceof Cluster ? undefined : redis
  const examined = new WeakSet<Server['stream']>()
  const examinations = new WeakMap<Server['stream'], Promise<void>>()

  async function examine(tag: string): Promise<void> {
    const refusal = await findWriteRefusal(redis, { tags: [tag] })
    if (refusal !== undefined) throw new Error(refusal)
    const marked = tags.filter((one) => nameOf(redis, one) === nameOf(redis, tag))
    const server = primaryOf(redis, tag)
    const marks = await Promise.all(marked.map((one) => server.get(installationKeyOf(one))))
    if (marks.length > 0 && marks.every((mark) => mark === null)) {
      throw new Error('Redis belongs to no installation')
    }
  }

  function examinationOf(stream: Server['stream'], tag: string): Promise<void> {
    const known = examinations.get(stream)
    if (known !== undefined) return known
    // After a failure the next caller examines the socket again.
    const examination = examine(tag).finally(() => examinations.delete(stream))
    examinations.set(stream, examination)
    return examination
  }

  async function examineFirst(tag: string): Promise<void> {
    await requireConnection(redis, tag)
    const { stream } = primaryOf(redis, tag)
    if (examined.has(stream)) return
    await examinationOf(stream, tag)
    const server = primaryOf(redis, tag)
    if (server.status !== 'ready' || server.stream !== stream) {
      throw new Error('the connection to Redis has changed')
    }
    examined.add(stream)
  }

  return {
    /**
     * Resolves if the socket for keys of this hash tag leads to a primary with a mark of the
     * installation, both read through that same socket. So it rejects if Redis was replaced or lost
     * its data while there was no connection.
     *
     * @throws {RefusedError} when `refusalOf` gives a reason; another error when the examination
     * fails, or when there is no connection
     */
    requireExamined(tag = mainTag): Promise<void> {
      const refusal = refusalOf?.(tag)
      if (refusal !== undefined) return Promise.reject(new RefusedError(refusal))
      const isKnown = only?.status === 'ready' && examined.has(only.stream)
      return isKnown ? Promise.resolve() : examineFirst(tag)
    },
  }
}
