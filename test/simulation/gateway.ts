import type { ApiKey } from '@intake/access'
import type { RecordKind } from '@intake/contract'
import type { createAcceptFeedback } from '../../gateway/src/accept/feedback.ts'
import type { FeedbackForm } from '../../gateway/src/form/feedback-form.ts'
import type { createAcceptLog } from '../../gateway/src/accept/log.ts'
import type { GroupCommit } from '../../gateway/src/commit/group-commit.ts'
import type { ObjectStore } from './object-store.ts'
import { createAttachments } from './ports/attachments.ts'
import { createJobSink } from './ports/job-sink.ts'
import { createReservationCommands } from './ports/reservation-redis.ts'
import { shards, type Redis } from './redis.ts'
import { createClock } from './time.ts'
import type { Watermark } from './watermark.ts'
import { createProcess, type Part, type World } from './world.ts'

export interface Request {
  kind: RecordKind
  device: string
  content: string
  /** The id that the client gave the record. */
  clientId: string | undefined
  /** The `Idempotency-Key`. */
  key: string | undefined
}

export type GatewayAnswer =
  /** The response 201. */
  | { outcome: 'created'; id: string }
  /** Any response that means: not stored. */
  | { outcome: 'refused' }
  /** 503 `outcome_unknown` */
  | { outcome: 'unknown' }

export interface Gateway extends Part {
  receive(request: Request, answer: (answer: GatewayAnswer) => void): void
}

const enqueueTimeoutMs = 4_000
/** Maximum deviation of each gateway's wall clock, in either direction. */
export const skewMaxMs = 3_000

interface Life {
  acceptLog: ReturnType<typeof createAcceptLog>
  acceptFeedback: ReturnType<typeof createAcceptFeedback>
}

type FastifyRequest = Parameters<Life['acceptLog']>[0]

/**
 * A gateway. It runs the real code between the validation of a record and Redis. Each feedback has
 * one image.
 */
export function createGateway(options: {
  world: World
  name: string
  redis: Redis
  objects: ObjectStore
  watermark: Pick<Watermark, 'acknowledge'>
}): Gateway {
  const { world, redis, objects, watermark } = options
  const { code, random, scheduler, wallMs } = world
  const process = createProcess(options.name)
  const skewMs = random.below(2 * skewMaxMs) - skewMaxMs
  const gatewayMs = () => wallMs() + skewMs
  let life = live()

  function live(): Life {
    const clock = createClock({ world, process, isBackground: false })
    const background = createClock({ world, process, isBackground: true })
    const commands = createReservationCommands({ world, process, redis })
    const ledger = code.reservationLedger.createReservationLedger({
      redis: commands.redis,
      memoryBytes: () => Infinity,
      shares: { logs: 1, feedback: 1 },
      onError(error) {
        // A fault of the simulation itself, such as a command that it lacks.
        if (error instanceof TypeError) throw error
      },
      clock: background,
    })
    const { reserve } = commands
    const commitOf = (kind: RecordKind): GroupCommit => {
      const open = (shard: number) => createJobSink({ world, process, redis, kind, shard })
      const producer =
        kind === 'logs'
          ? code.produce.createShardedProducer({
              sinks: shards.map(open),
              isUsable: () => true,
              clock,
            })
          : code.produce.createFrameProducer({ sink: open(0), clock })
      return new code.groupCommit.GroupCommit({
        producer,
        kind,
        loopUtilization: () => 0,
        acceptanceMsMax: code.contract.limits.acceptanceMs[kind],
        wallMs: gatewayMs,
        onStored: () => {},
        clock,
      })
    }
    const idempotency = code.idempotencyStore.createIdempotencyStore({ reserve, ledger, clock })
    const policy = {
      retentionMs: () => undefined,
      isSuppressed: () => false,
      rules: () => ({ active: [], forSender: () => undefined }),
    }
    const apiKey = { bundleIdentifiers: [] as string[], suspendedAt: null } as ApiKey
    const limiter = { take: () => ({ giveBack() {}, giveBackBudget() {} }) }
    const outcomes = { settle: (_accepted: unknown, body: unknown) => ({ body, leftOut: 0 }) }
    const acceptance = code.acceptance.createAcceptance({
      apiKeys: { find: () => apiKey },
      policy,
      limiter,
      outcomes: outcomes as never,
      now: gatewayMs,
      countryHeader: undefined,
      enqueueTimeoutMs,
      clock,
    })
    return {
      acceptLog: code.acceptLog.createAcceptLog({
        acceptance,
        logs: commitOf('logs'),
        idempotency,
      }),
      acceptFeedback: code.acceptFeedback.createAcceptFeedback({
        acceptance,
        feedback: commitOf('feedback'),
        idempotency,
        store: createAttachments({ world, process, objects }),
      }),
    }
  }

  async function accept(request: Request): Promise<string> {
    const receivedAtMs = gatewayMs()
    const id = await enqueue(request)
    const { kind, device } = request
    const acknowledgedAtMs = wallMs()
    watermark.acknowledge({ kind, device_uuid: device, id, receivedAtMs, acknowledgedAtMs })
    return id
  }

  /** Passes the request to the gateway's code as parsed. */
  async function enqueue(request: Request): Promise<string> {
    const { kind, device, content, clientId: id, key } = request
    const sender = {
      bundle_identifier: 'app',
      device_uuid: device,
      unique_user_id: 'user',
      device: {},
    }
    const arrival = {
      id: '1',
      headers: { 'x-api-key': 'ik', ...(key !== undefined && { 'idempotency-key': key }) },
      log: { warn() {} },
    } as unknown as FastifyRequest
    const own = id !== undefined && { id }
    if (kind === 'logs') {
      const body = { ...sender, log: { event: content, params: {}, ...own } }
      arrival.body = { value: body, bytes: 0, isPlain: true, nodes: 0, entryNodes: 0 }
      return (await life.acceptLog(arrival)).body.id
    }
    const body = Buffer.from(content)
    const image = { body, contentType: 'image/png', extension: 'png', sha256: '0', sentSha256: '0' }
    const feedback: FeedbackForm = {
      payload: { ...sender, feedback: { text: content, ...own } },
      print: JSON.stringify,
      textBytes: 0,
      uploads: [{ bytes: body.length, image }],
      fields: {},
      omitted: undefined,
      invalidEmail: undefined,
      isLenient: false,
    }
    return (await life.acceptFeedback(arrival, feedback)).body.id
  }

  function asAnswer(error: unknown): GatewayAnswer {
    if (!(error instanceof code.contract.IntakeError)) throw error
    scheduler.note(process.name, error.code)
    return { outcome: error.code === 'outcome_unknown' ? 'unknown' : 'refused' }
  }

  return {
    process,
    start() {
      life = live()
    },
    receive(request, answer) {
      void accept(request)
        .then((id): GatewayAnswer => ({ outcome: 'created', id }), asAnswer)
        .then(answer)
    },
  }
}
