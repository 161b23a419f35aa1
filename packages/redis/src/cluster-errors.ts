import { ReplyError, type Cluster } from 'ioredis'

/** Makes a cluster report why it connects again and again: its state, which ioredis waits for, is not `ok`. */
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

/** The error of the node that was asked last, when none could be asked for the slots. */
export const causeOf = (error: Error): Error =>
  (error as { lastNodeError?: Error | null }).lastNodeError ?? error
