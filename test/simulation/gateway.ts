import { createFrameCommit } from './frame-commit.ts'
import type { ObjectStore } from './object-store.ts'
import type { Redis, Reservation } from './redis.ts'
import { createId, timeOf } from './row.ts'
import { createProcess, type Part, type World } from './world.ts'

export interface Request {
  content: string
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

const timeoutTicks = 80

/** A gateway: reserve the id, put the image, commit the row, respond. */
export function createGateway(options: {
  world: World
  name: string
  redis: Redis
  objects: ObjectStore
}): Gateway {
  const { world, redis, objects } = options
  const { design, scheduler, network, serial } = world
  const process = createProcess(options.name)
  let commit = createFrameCommit({ world, process, redis })

  /** `use` gets undefined if the key belongs to other content or Redis did not respond. */
  function identify({ key, content }: Request, use: (id: string | undefined) => void): void {
    const id = createId(scheduler.now(), serial())
    if (key === undefined || !design.reservation) return use(id)
    network.call<Reservation>({
      from: process,
      to: redis.process,
      what: `reserve ${id} for ${key}`,
      timeoutTicks,
      handle: (answer) => answer(redis.reserve(key, { id, content })),
      done: (reply) => {
        const isOurs = reply.outcome === 'answered' && reply.value.content === content
        use(isOurs ? reply.value.id : undefined)
      },
    })
  }

  function putImage(id: string, done: (isStored: boolean) => void): void {
    network.call({
      from: process,
      to: objects.process,
      what: `put the image of ${id}`,
      timeoutTicks,
      handle: (answer) => answer(objects.put(id)),
      done: (reply) => done(reply.outcome === 'answered'),
    })
  }

  function removeImage(id: string): void {
    network.call({
      from: process,
      to: objects.process,
      what: `remove the image of ${id}`,
      timeoutTicks,
      handle: (answer) => answer(objects.remove(id)),
      done: () => {},
    })
  }

  function store(id: string, request: Request, answer: (answer: GatewayAnswer) => void): void {
    const { content, hasImage } = request
    const image = hasImage ? id : undefined
    commit.append({ id, receivedAt: timeOf(id), content, image }, (outcome) => {
      if (outcome === 'refused') return refuse(id, request, answer)
      if (outcome === 'unknown') return answer({ outcome })
      answer({ outcome: 'created', id: design.identity === 'gateway' ? id : undefined })
    })
  }

  function refuse(id: string, request: Request, answer: (answer: GatewayAnswer) => void): void {
    // With a key, another attempt may be using the image.
    const mayRemove = request.key === undefined || design.removeImagesOfRefused === 'all'
    if (request.hasImage && mayRemove) removeImage(id)
    answer({ outcome: 'refused' })
  }

  return {
    process,
    start() {
      commit = createFrameCommit({ world, process, redis })
    },
    receive(request, answer) {
      identify(request, (id) => {
        if (id === undefined) return answer({ outcome: 'refused' })
        if (!request.hasImage) return store(id, request, answer)
        putImage(id, (isStored) => {
          if (isStored) store(id, request, answer)
          else refuse(id, request, answer)
        })
      })
    },
  }
}
