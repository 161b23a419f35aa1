import { ReplyError, type Cluster } from 'ioredis'

/**
 * While the state of a cluster is not `ok`, ioredis connects to it again and again without saying
 * why. This function makes the connection report the reason as a `node error`.
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
 * Returns the cause of a cluster's error. If no node could return the slots, this is the error of
 * the node that was asked last. Otherwise it is the given error.
 */
export const causeOf = (error: Error): Error =>
  (error as { lastNodeError?: Error | null }).lastNodeError ?? error
