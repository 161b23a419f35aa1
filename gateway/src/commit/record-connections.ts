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

/**
 * Opens the connections that write records and reservations. If replicas must confirm writes, logs,
 * feedback and reservations have a connection each, because a connection that waits for replicas
 * sends nothing else meanwhile. Otherwise all of them use the connection `redis`, as outcomes
 * always do.
 *
 * @param options.redis a connection that the caller closes
 * @param options.replicas the number of replicas that must confirm each write
 * @param options.tags the hash tags for which setup has stored a mark of the installation in Redis
 * @param options.refusalOf returns the reason why nothing may be written to the server of a hash
 * tag, if the poll of Redis's state has found one
 */
export function openRecordConnections(options: {
  redis: Redis
  url: string | Secret
  replicas: number
  tags: readonly string[]
  refusalOf: (tag: string) => string | undefined
  onError: (error: Error) => void
}) {
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

/** If a reservation were lost but its record survived, a repeat would store the record again. */
function reserveOnReplicas(reserve: Reserve, acks: ReplicaAcks): Reserve {
  return (call) =>
    acks.confirm({ key: call.keys[0]!, hasWritten: (reply) => reply === 'reserved' }, () =>
      reserve(call),
    )
}
