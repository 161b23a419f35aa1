import { defineReserve, type Reserve } from '@intake/identity'
import {
  connectRedis,
  createExamination,
  createReplicaAcks,
  tagOf,
  type Examination,
  type Redis,
  type ReplicaAcks,
} from '@intake/redis'
import type { Secret } from '@intake/runtime'

interface RecordConnection extends Examination {
  redis: Redis
  /** Undefined: no replica must confirm what is written. */
  acks: ReplicaAcks | undefined
}

/**
 * What records, their reservations and outcomes are written through. Nothing is written through a connection that was
 * not examined (see `Examination`).
 */
export interface RecordConnections {
  logs: RecordConnection
  feedback: RecordConnection
  outcomes: RecordConnection
  reserve: Reserve
  /** Closes those that it has opened. */
  close(): void
}

/**
 * Without replicas everything uses one connection. A connection that waits for replicas sends nothing
 * else, so each kind of record and the reservations then have their own.
 *
 * @param options.redis belongs to the caller
 * @param options.tags those that have a mark of the installation
 * @param options.refusalOf why the server of a hash tag may get nothing, as far as that is known by other means
 */
export function openRecordConnections(options: {
  redis: Redis
  url: string | Secret
  replicas: number
  tags: readonly string[]
  refusalOf: (tag: string) => string | undefined
  onError: (error: Error) => void
}): RecordConnections {
  const { redis, url, replicas, tags, refusalOf, onError } = options
  const shared = { redis, acks: undefined, ...createExamination({ redis, tags, refusalOf }) }
  if (replicas === 0) {
    return {
      logs: shared,
      feedback: shared,
      outcomes: shared,
      reserve: reserveExamined(defineReserve(redis), shared),
      close: () => undefined,
    }
  }
  const opened: Redis[] = []
  function open() {
    const own = connectRedis({ url, role: 'producer', onError })
    opened.push(own)
    return {
      redis: own,
      acks: createReplicaAcks({ redis: own, replicas }),
      ...createExamination({ redis: own, tags, refusalOf }),
    }
  }
  const reservations = open()
  return {
    logs: open(),
    feedback: open(),
    outcomes: shared,
    reserve: reserveExamined(
      reserveOnReplicas(defineReserve(reservations.redis), reservations.acks),
      reservations,
    ),
    close() {
      for (const one of opened) one.disconnect()
    },
  }
}

function reserveExamined(reserve: Reserve, { requireExamined }: Examination): Reserve {
  return async (call) => {
    await requireExamined(tagOf(call.keys[0]!))
    return reserve(call)
  }
}

/** A record that is kept must not lose its reservation: a repeat would become a second record. */
function reserveOnReplicas(reserve: Reserve, acks: ReplicaAcks): Reserve {
  return (call) =>
    acks.confirm({ key: call.keys[0]!, hasWritten: (reply) => reply === 'reserved' }, () =>
      reserve(call),
    )
}
