import { Cluster } from 'ioredis'
import { ReplyError, type Redis, type Server } from '../connect.ts'
import { replyCode } from '../replies.ts'
import { primaryOf, tagOf } from '../servers.ts'

/** Redis confirmed the write, but not enough replicas did: a failover could lose it. */
export class NotReplicatedError extends Error {
  override name = 'NotReplicatedError'
}

export type ReplicaAcks = ReturnType<typeof createReplicaAcks>

/** The socket that a reply came through. Another socket may lead to another server. */
interface Connection {
  server: Server
  stream: Server['stream']
}

/** One WAIT or WAITAOF command. It confirms the writes of all calls that have joined the round. */
interface Round {
  /**
   * Whether a call has only read a value, which another connection may have written. WAIT covers
   * only writes of its own connection, so such a round writes something first.
   */
  needsWrite: boolean
  done: Promise<void>
}

interface Line {
  /** False if the server lacks WAITAOF, does not allow it, or has no append-only file. */
  hasWaitAof: boolean
  last: Promise<unknown>
  /** The round that has not been sent yet. */
  next: Round | undefined
}

/** Shorter than the timeout of an attempt in `commandRetries`. */
const timeoutMs = 1_000

/**
 * Waits for replicas on the connection that wrote, which executes nothing else meanwhile: use one
 * for these writes alone.
 */
export function createReplicaAcks(options: { redis: Redis; replicas: number }) {
  const { redis, replicas } = options
  const lines = new WeakMap<Connection['stream'], Line>()

  function connectionOf(key: string): Connection {
    const server = primaryOf(redis, key)
    return { server, stream: server.stream }
  }

  function joinRound(connection: Connection, key: string, hasWritten: boolean): Promise<void> {
    const line = lines.get(connection.stream) ?? createLine()
    lines.set(connection.stream, line)
    line.next ??= startRound(line, connection, key)
    if (!hasWritten) line.next.needsWrite = true
    return line.next.done
  }

  function startRound(line: Line, connection: Connection, key: string): Round {
    const round = { needsWrite: false }
    const done = line.last.then(() => {
      line.next = undefined
      const mark = round.needsWrite ? `${tagOf(key)}:acked` : undefined
      return wait(line, { connection, mark, replicas })
    })
    // Every call of this round gets its error, which the next round ignores.
    line.last = done.catch(() => undefined)
    return Object.assign(round, { done })
  }

  /** Rejects if the key has moved: EXISTS on its old node then fails, also while the slot moves. */
  async function requireHere({ server }: Connection, key: string): Promise<void> {
    if (redis instanceof Cluster) await server.exists(key)
  }

  return {
    /**
     * Runs a command for `key`. Resolves to its reply when enough replicas have what it wrote: on
     * disk if Redis has WAITAOF (from 7.2, and Valkey) and an append-only file, otherwise in memory.
     *
     * @param options.hasWritten whether a command with this reply wrote anything (default: true). If
     * not, replicas must have everything that it read
     * @throws {NotReplicatedError} when the command succeeded, but replicas did not confirm it
     * within a second; any error of `command`
     */
    async confirm<Reply>(
      { key, hasWritten }: { key: string; hasWritten?: (reply: Reply) => boolean },
      command: () => Promise<Reply>,
    ): Promise<Reply> {
      const before = connectionOf(key)
      const reply = await command()
      try {
        requireSame(before)
        if (connectionOf(key).server !== before.server) throw new Error('its node has changed')
        await Promise.all([
          requireHere(before, key),
          joinRound(before, key, hasWritten?.(reply) ?? true),
        ])
        return reply
      } catch (cause) {
        // Callers conclude from an error reply that nothing was written, so none may reach them.
        const error = cause as Error
        const why = error instanceof ReplyError ? replyCode(error) : error.message
        throw new NotReplicatedError(`written, but not confirmed by replicas: ${why}`, { cause })
      }
    },
  }
}

const createLine = (): Line => ({
  hasWaitAof: true,
  last: Promise.resolve(),
  next: undefined,
})

/** @param options.mark the key that is written before the wait; undefined to write none */
async function wait(
  line: Line,
  options: { connection: Connection; mark: string | undefined; replicas: number },
): Promise<void> {
  const { connection, mark, replicas } = options
  requireSame(connection)
  const { server } = connection
  const writing = mark === undefined ? undefined : server.set(mark, '', 'PX', 1)
  const [acks] = await Promise.all([countAcks(line, server, replicas), writing])
  // If the client has reconnected, it may have sent the command again, to another server.
  requireSame(connection)
  if (acks < replicas) throw new Error(`${acks} of ${replicas} replicas have it`)
}

async function countAcks(line: Line, server: Server, replicas: number): Promise<number> {
  if (line.hasWaitAof) {
    try {
      const [local, remote] = (await server.call('WAITAOF', 1, replicas, timeoutMs)) as number[]
      return local === 0 ? 0 : (remote ?? 0)
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      // If the error has another cause, WAIT fails, too.
      line.hasWaitAof = false
    }
  }
  return server.wait(replicas, timeoutMs)
}

function requireSame({ server, stream }: Connection): void {
  if (server.status === 'ready' && server.stream === stream) return
  throw new Error('the connection has changed')
}
