import { ReplyError, type Cluster, type Redis as Server } from 'ioredis'
import { RedisUrlError } from './redis-url.ts'

type Done = (error: Error | null | undefined, slots?: unknown) => void

/**
 * Makes a cluster report why it cannot read its slots. ioredis asks each node through a connection
 * whose errors it drops, so that every reason would be "Connection is closed.".
 */
export function reportSlotsErrors(cluster: Cluster): void {
  cluster.on('+node', (node: Server) => {
    const duplicate = node.duplicate.bind(node)
    node.duplicate = (...options) => {
      const connection = duplicate(...options)
      let socketError: Error | undefined
      connection.on('error', (error: Error) => (socketError = error))
      const ask = connection.cluster.bind(connection) as (command: string, done: Done) => unknown
      connection.cluster = ((command: string, done: Done) =>
        ask(command, (error, slots) =>
          done(error && explain(socketError ?? error), slots),
        )) as typeof connection.cluster
      return connection
    }
  })
}

/**
 * Makes a cluster report why it keeps reconnecting: its state, which ioredis waits for, is not
 * `ok`.
 */
export function reportLostPrimary(cluster: Cluster): void {
  let hasSlots = false
  cluster.on('connect', () => (hasSlots = true))
  cluster.on('ready', () => (hasSlots = false))
  cluster.on('reconnecting', () => {
    if (hasSlots) {
      cluster.emit('node error', new ReplyError('CLUSTERDOWN The cluster has lost a primary'), '')
    }
    hasSlots = false
  })
}

/** Recognizes the error by its text, because many errors have the code ERR. */
function explain(error: Error): Error {
  if (!(error instanceof ReplyError && /cluster support disabled/.test(error.message))) return error
  return new RedisUrlError(
    'Redis is no cluster: REDIS_URL must begin with redis:// (with TLS rediss://)',
  )
}

/** The error of the node that was asked last, if no node returned the slots. */
export const causeOf = (error: Error): Error =>
  (error as { lastNodeError?: Error | null }).lastNodeError ?? error
