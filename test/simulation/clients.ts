import { limits } from '@intake/contract'
import { createIdentity } from '@intake/identity'
import type { Gateway, GatewayAnswer, Request } from './gateway.ts'
import type { History, Submission } from './history.ts'
import type { Reply } from './network.ts'
import { createProcess, type World } from './world.ts'

const submissionsMax = 24
/** The ticks at which bursts of submissions begin. Without bursts, few rows would share a frame. */
const burstsAt = [0, 60, 120]
const burstTicks = 12
const timeoutTicks = 220
const pauseTicks = 40
/** The maximum time between an event and its first attempt, except for old events (`eventId`). */
const eventAgeMs = 60_000
const uuidV4 = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`

/** How a client marks its attempts as one submission. */
type Retry = 'nothing' | 'UUIDv7' | 'UUIDv4' | 'Idempotency-Key'

interface Sender {
  request: Request
  /** If false, each attempt is a separate submission. */
  isRepeatable: boolean
  attemptsMax: number
}

/**
 * Starts realistic clients. A client sends a submission until it is created or the client gives up.
 * All attempts with the same id or key are one submission. An attempt without an id and a key is a
 * separate submission. Some submissions are sent again after they were created. Some have the key
 * of another submission, or an id that another device has used.
 */
export function startClients(options: {
  world: World
  gateways: readonly Gateway[]
  history: History
}): void {
  const { world, gateways, history } = options
  const { random, scheduler, network, coverage, wallMs } = world
  const process = createProcess('client')

  const count = 2 + random.below(submissionsMax - 1)
  for (let index = 1; index <= count; index++) {
    const run = () => attempt(createSender(index), 1)
    const after = random.pick(burstsAt) + random.below(burstTicks)
    scheduler.plan({ of: process, what: `sends r${index}`, after, run })
  }

  function createSender(index: number): Sender {
    const hasImage = random.chance(0.4)
    const retries: Retry[] = hasImage
      ? ['nothing', 'UUIDv4', 'Idempotency-Key']
      : ['nothing', 'UUIDv7', 'UUIDv7', 'UUIDv4', 'Idempotency-Key']
    const retry = random.pick(retries)
    const other = random.chance(0.1) ? index - 1 : index
    const isV7 = retry === 'UUIDv7'
    return {
      request: {
        kind: hasImage ? 'feedback' : 'logs',
        device: uuidV4(isV7 ? 1_000 + index : 0),
        content: `r${index}`,
        clientId: isV7 ? eventId(other) : retry === 'UUIDv4' ? uuidV4(other) : undefined,
        key: retry === 'Idempotency-Key' ? `key-${other}` : undefined,
      },
      isRepeatable: retry !== 'nothing',
      attemptsMax: 1 + random.below(4),
    }
  }

  const eventIds = new Map<number, string>()
  /**
   * Returns the UUIDv7 of an event. Some events are almost as old as the gateway accepts, so that
   * it refuses their retries as too old.
   */
  function eventId(index: number): string {
    const agoMs = (random.chance(0.1) ? limits.eventAgeMs - 2_000 : 0) + random.below(eventAgeMs)
    const { id } = createIdentity(wallMs() - agoMs)
    if (!eventIds.has(index)) eventIds.set(index, id)
    return eventIds.get(index)!
  }

  function attempt(sender: Sender, number: number): void {
    const { isRepeatable, attemptsMax } = sender
    const content = isRepeatable ? sender.request.content : `${sender.request.content}.${number}`
    const request = { ...sender.request, content }
    const submission = history.send(request)
    if (isRepeatable && number > 1) coverage['keyed retries']++
    const gateway = random.pick(gateways)
    network.call<GatewayAnswer>({
      from: process,
      to: gateway.process,
      what: `POST ${[content, request.clientId, request.key].filter(Boolean).join(' ')}`,
      timeoutTicks,
      handle: (answer) => gateway.receive(request, answer),
      done: (reply) => {
        const outcome = record(submission, reply)
        const isWanted = outcome !== 'created' || (isRepeatable && random.chance(0.2))
        if (!isWanted || number >= attemptsMax) return
        const after = random.below(pauseTicks)
        const run = () => attempt(sender, number + 1)
        scheduler.plan({ of: process, what: `sends ${content} again`, after, run })
      },
    })
  }

  /** Records the outcome of an attempt. A refused connection counts as a refused request. */
  function record(submission: Submission, reply: Reply<GatewayAnswer>) {
    const answer = reply.outcome === 'answered' ? reply.value : undefined
    const outcome = answer?.outcome ?? (reply.outcome === 'unreachable' ? 'refused' : 'unknown')
    submission.outcomes.push(outcome)
    if (answer?.outcome === 'created') submission.acknowledgedIds.add(answer.id)
    if (outcome === 'created') coverage.acknowledgements++
    if (outcome === 'refused') coverage.refusals++
    if (outcome === 'unknown') coverage['unknown responses']++
    scheduler.note('client', `${submission.content} is ${outcome}`)
    return outcome
  }
}
