import { ReplyError, type Cluster } from 'ioredis'

/** Reports why ioredis connects again and again while a cluster is not `ok`, as a `node error`. */
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

/** Returns the error of the node that was asked last, if no node could return the slots. */
export const causeOf = (error: Error): Error =>
  (error as { lastNodeError?: Error | null }).lastNodeError ?? error
