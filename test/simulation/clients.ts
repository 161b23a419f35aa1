import type { Gateway, GatewayAnswer } from './gateway.ts'
import type { History, Submission } from './history.ts'
import type { Reply } from './network.ts'
import { createProcess, type World } from './world.ts'

const submissionsMax = 24
/** Submissions come in bursts: otherwise frames and insert batches stay small. */
const burstsAt = [0, 60, 120]
const burstTicks = 12
const timeoutTicks = 220
const pauseTicks = 40

/**
 * Realistic clients: each submission is sent until it is created or the client gives up.
 * With a key all attempts are one submission. Some are sent again although they were created,
 * or use the key of another one. Without a key each attempt is a separate submission.
 */
export function startClients(options: {
  world: World
  gateways: readonly Gateway[]
  history: History
}): void {
  const { world, gateways, history } = options
  const { random, scheduler, network, coverage } = world
  const process = createProcess('client')

  const count = 2 + random.below(submissionsMax - 1)
  for (let index = 1; index <= count; index++) {
    const isKeyed = random.chance(0.6)
    const key = isKeyed ? `key-${random.chance(0.1) ? index - 1 : index}` : undefined
    const sender = { index, key, hasImage: random.chance(0.4), attemptsMax: 1 + random.below(4) }
    const run = () => attempt(sender, 1)
    const after = random.pick(burstsAt) + random.below(burstTicks)
    scheduler.plan({ of: process, what: `sends r${index}`, after, run })
  }

  function attempt(
    sender: { index: number; key: string | undefined; hasImage: boolean; attemptsMax: number },
    number: number,
  ): void {
    const { index, key, hasImage, attemptsMax } = sender
    const content = key === undefined ? `r${index}.${number}` : `r${index}`
    const submission = history.send({ content, key, hasImage })
    if (key !== undefined && number > 1) coverage['keyed retries']++
    const gateway = random.pick(gateways)
    network.call<GatewayAnswer>({
      from: process,
      to: gateway.process,
      what: key === undefined ? `POST ${content}` : `POST ${content} under ${key}`,
      timeoutTicks,
      handle: (answer) => gateway.receive({ content, key, hasImage }, answer),
      done: (reply) => {
        const outcome = record(submission, reply)
        const isWanted = outcome !== 'created' || (key !== undefined && random.chance(0.2))
        if (!isWanted || number >= attemptsMax) return
        const after = random.below(pauseTicks)
        const run = () => attempt(sender, number + 1)
        scheduler.plan({ of: process, what: `sends r${index} again`, after, run })
      },
    })
  }

  /** A refused connection is a refused request. */
  function record(submission: Submission, reply: Reply<GatewayAnswer>) {
    const answer = reply.outcome === 'answered' ? reply.value : undefined
    const outcome = answer?.outcome ?? (reply.outcome === 'unreachable' ? 'refused' : 'unknown')
    submission.outcomes.push(outcome)
    if (answer?.outcome === 'created' && answer.id) submission.acknowledgedIds.add(answer.id)
    if (outcome === 'created') coverage.acknowledgements++
    if (outcome === 'refused') coverage.refusals++
    if (outcome === 'unknown') coverage['unknown responses']++
    scheduler.note('client', `${submission.content} is ${outcome}`)
    return outcome
  }
}
