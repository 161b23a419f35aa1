import { kinds, type RecordKind } from '@intake/contract'
import { clientIdKey, fingerprintOf } from '../../gateway/src/identity/idempotency-key.ts'
import { createIdentity, type Identity } from '../../gateway/src/identity/identity.ts'
import type { GroupCommit } from '../../gateway/src/commit/group-commit.ts'
import type { IdempotencyStore } from '../../gateway/src/identity/idempotency-store.ts'
import type { StoredAttachment } from '../../gateway/src/record/row.ts'
import type { ObjectStore } from './object-store.ts'
import { createAttachments } from './ports/attachments.ts'
import { createJobSink } from './ports/job-sink.ts'
import { createReservationCommands } from './ports/reservation-redis.ts'
import type { Redis } from './redis.ts'
import { createClock } from './time.ts'
import { createProcess, type Part, type World } from './world.ts'

export interface Request {
  kind: RecordKind
  device: string
  content: string
  /** The id that the client gave the record. */
  clientId: string | undefined
  /** The `Idempotency-Key`. */
  key: string | undefined
  hasImage: boolean
}

export type GatewayAnswer =
  /** 201. Without an id if the design has none yet. */
  | { outcome: 'created'; id: string | undefined }
  /** Any response that means: not stored. */
  | { outcome: 'refused' }
  /** 503 `outcome_unknown` */
  | { outcome: 'unknown' }

export interface Gateway extends Part {
  receive(request: Request, answer: (answer: GatewayAnswer) => void): void
}

const enqueueTimeoutMs = 4_000
/** Of each gateway's wall clock, in either direction. */
const skewMaxMs = 3_000

interface Life {
  now: () => number
  commits: Record<RecordKind, GroupCommit>
  idempotency: IdempotencyStore
  attachments: ReturnType<typeof createAttachments>
}

/** A gateway: the real code from the validated request to Redis. */
export function createGateway(options: {
  world: World
  name: string
  redis: Redis
  objects: ObjectStore
}): Gateway {
  const { world, redis, objects } = options
  const { code, design, random, scheduler, wallMs } = world
  const process = createProcess(options.name)
  const skewMs = random.below(2 * skewMaxMs) - skewMaxMs
  let life = live()

  function live(): Life {
    const clock = createClock({ world, process, isBackground: false })
    const background = createClock({ world, process, isBackground: true })
    const commands = createReservationCommands({ world, process, redis })
    const ledger = code.reservationLedger.createReservationLedger({
      redis: commands.redis,
      memoryBytes: () => Infinity,
      shares: { logs: 1, feedback: 1 },
      onError: () => {},
      clock: background,
    })
    const { reserve } = commands
    return {
      now: clock.now,
      commits: commitsOf((kind) => {
        const sink = createJobSink({ world, process, redis, kind })
        const producer = code.queue.createFrameProducer({ sink, clock })
        return code.groupCommit.createGroupCommit({
          producer: {
            async add(frame, deadline) {
              const added = producer.add(frame, deadline)
              if (design.acknowledge === 'when the queue confirmed') return added
              added.catch(() => {})
            },
          },
          loopUtilization: () => 0,
          onStored: () => {},
          clock,
        })
      }),
      idempotency: design.reservation
        ? code.idempotencyStore.createIdempotencyStore({ reserve, ledger, clock })
        : { reserve: ({ id }) => Promise.resolve(id) },
      attachments: createAttachments({ world, process, objects }),
    }
  }

  /** As the handlers of the routes do it. */
  async function accept(request: Request): Promise<string> {
    const { kind, device, content, clientId, key, hasImage } = request
    const { now, commits, idempotency, attachments: store } = life
    const nowMs = wallMs() + skewMs
    const identity = await code.assignIdentity.assignIdentity({
      store: idempotency,
      scope: kind,
      apiKeyId: 'key_1',
      sender: { bundle_identifier: 'app', device_uuid: device, device: {}, unique_user_id: 'user' },
      clientId: clientIdKey(clientId),
      key,
      nowMs,
      timeMs: nowMs,
      fingerprint: () => fingerprintOf([content]),
      deadline: now() + enqueueTimeoutMs,
    })
    const rowOf = (stored: StoredAttachment[]) => {
      const columns = {
        received_at: new Date(nowMs).toISOString(),
        device_uuid: device,
        text: content,
      }
      const others = JSON.stringify({ ...columns, attachments: stored }).slice(1, -1)
      return code.row.finishRow(timed(identity, nowMs), others)
    }
    const commit = (stored: StoredAttachment[]) =>
      commits[kind].append(rowOf(stored), now() + enqueueTimeoutMs)
    if (!hasImage) {
      await commit([])
      return identity.id
    }
    const isRepeatable = (key ?? clientId) !== undefined
    await code.attachments.commitWithImages({
      store,
      identity,
      images: [
        { body: Buffer.from(content), contentType: 'image/png', extension: 'png', sha256: '0' },
      ],
      repeatable: isRepeatable && design.removeImagesOfRefused === 'those without a key',
      log: { warn() {} } as never,
      requestId: '1',
      commit,
    })
    return identity.id
  }

  function timed(identity: Identity, nowMs: number): Identity {
    return design.time === 'from the id' ? identity : { ...createIdentity(nowMs), id: identity.id }
  }

  function asAnswer(error: unknown): GatewayAnswer {
    if (!(error instanceof code.contract.IntakeError)) throw error
    const isUnknown = error.code === 'outcome_unknown'
    const outcome = isUnknown ? design.unknownIsToldAs : 'refused'
    scheduler.note(process.name, error.code)
    return { outcome }
  }

  return {
    process,
    start() {
      life = live()
    },
    receive(request, answer) {
      void accept(request)
        .then((id): GatewayAnswer => {
          return { outcome: 'created', id: design.identity === 'gateway' ? id : undefined }
        }, asAnswer)
        .then(answer)
    },
  }
}

function commitsOf(create: (kind: RecordKind) => GroupCommit): Record<RecordKind, GroupCommit> {
  const commits = kinds.map((kind) => [kind, create(kind)] as const)
  return Object.fromEntries(commits) as Record<RecordKind, GroupCommit>
}
