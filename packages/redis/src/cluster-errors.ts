import { ReplyError, type Cluster } from 'ioredis'

/**
 * Makes the connection to a cluster report why it reconnects again and again: the state of the
 * cluster is not `ok`, and ioredis waits until it is.
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

/**
 * Returns the error of the node that was asked last, if no node could return the slots; otherwise
 * the given error.
 */
export const causeOf = (error: Error): Error =>
  (error as { lastNodeError?: Error | null }).lastNodeError ?? error
