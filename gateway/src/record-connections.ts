import { defineReserve, type Reserve } from '@intake/identity'
import { connectRedis, createReplicaAcks, type Redis, type ReplicaAcks } from '@intake/redis'
import type { Secret } from '@intake/runtime'

interface RecordConnection {
  redis: Redis
  /** Undefined: no replica must confirm what is written. */
  acks: ReplicaAcks | undefined
}

/** What records and their reservations are written through. */
export interface RecordConnections {
  logs: RecordConnection
  feedback: RecordConnection
  reserve: Reserve
  /** Closes those that it has opened. */
  close(): void
}

/**
 * Without replicas everything uses one connection. A connection that waits for replicas sends nothing
 * else, so each kind of record and the reservations then have their own.
 *
 * @param options.redis belongs to the caller
 */
export function openRecordConnections(options: {
  redis: Redis
  url: string | Secret
  replicas: number
  onError: (error: Error) => void
}): RecordConnections {
  const { redis, url, replicas, onError } = options
  if (replicas === 0) {
    const shared = { redis, acks: undefined }
    return { logs: shared, feedback: shared, reserve: defineReserve(redis), close: () => undefined }
  }
  const opened: Redis[] = []
  function open() {
    const own = connectRedis({ url, role: 'producer', onError })
    opened.push(own)
    return { redis: own, acks: createReplicaAcks({ redis: own, replicas }) }
  }
  const reservations = open()
  return {
    logs: open(),
    feedback: open(),
    reserve: reserveOnReplicas(defineReserve(reservations.redis), reservations.acks),
    close() {
      for (const one of opened) one.disconnect()
    },
  }
}

/** A record that is kept must not lose its reservation: a repeat would become a second record. */
function reserveOnReplicas(reserve: Reserve, acks: ReplicaAcks): Reserve {
  return (call) =>
    acks.confirm({ key: call.keys[0]!, hasWritten: (reply) => reply === 'reserved' }, () =>
      reserve(call),
    )
}
