import { createFrameGathering, type FrameGathering } from './frame-gathering.ts'
import type { Redis } from './redis.ts'
import { partitionOf, type Row } from './row.ts'
import type { Process } from './scheduler.ts'
import type { World } from './world.ts'

/** `refused`: certainly not stored. `unknown`: sent without a response. */
export type CommitOutcome = 'stored' | 'refused' | 'unknown'

export interface FrameCommit {
  append(row: Row, done: (outcome: CommitOutcome) => void): void
}

interface Waiting {
  partition: number
  characters: number
  row: Row
  deadline: number
  done: (outcome: CommitOutcome) => void
}

const deadlineTicks = 150
const attemptTicks = 50
const retryTicks = 10
const frameLimits = { framesInFlightMax: 2, rowsMax: 4, charactersMax: Infinity }

/** Turns rows into frames and jobs, as `group-commit.ts` and `producer.ts` do. One life of a gateway. */
export function createFrameCommit(options: {
  world: World
  process: Process
  redis: Redis
}): FrameCommit {
  const { world, process, redis } = options
  const { design, scheduler, network, coverage, serial } = world
  const gathering: FrameGathering<Waiting> = createFrameGathering(frameLimits)
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || !gathering.isReady()) return
    isScheduled = true
    const run = () => {
      isScheduled = false
      flush(gathering.take())
      schedule()
    }
    scheduler.plan({ of: process, what: 'closes a frame', run })
  }

  function flush(frame: Waiting[]): void {
    if (frame.length > 1) coverage['frames of several rows']++
    const rows = frame.map(({ row }) => row)
    const deadline = Math.min(...frame.map((one) => one.deadline))
    const settle = (outcome: CommitOutcome) => {
      for (const { done } of frame) done(outcome)
    }
    if (design.acknowledge === 'when the frame is sent') settle('stored')
    add({ rows, deadline }, (outcome) => {
      settle(outcome)
      gathering.settled()
      schedule()
    })
  }

  function add(
    { rows, deadline }: { rows: Row[]; deadline: number },
    done: (outcome: CommitOutcome) => void,
  ): void {
    let jobId = `job-${serial()}`
    let isMaybeStored = false
    send()

    function send(): void {
      if (!design.sameJobId) jobId = `job-${serial()}`
      if (design.offlineQueue && redis.process.state === 'down') sendOnceConnected()
      network.call({
        from: process,
        to: redis.process,
        what: `add ${jobId} with ${rows.map(({ content }) => content).join(' ')}`,
        timeoutTicks: Math.max(0, Math.min(attemptTicks, deadline - scheduler.now())),
        handle: (answer) => answer(redis.add(jobId, rows)),
        done: (reply) => {
          if (reply.outcome === 'unknown') isMaybeStored = true
          if (reply.outcome === 'answered' && reply.value === 'stored') return done('stored')
          const isRefused = reply.outcome === 'answered'
          if (isRefused || scheduler.now() + retryTicks >= deadline) return giveUp()
          scheduler.plan({ of: process, what: `repeats ${jobId}`, after: retryTicks, run: send })
        },
      })
    }

    function giveUp(): void {
      const isUnknown = isMaybeStored && design.unknownIsToldAs === 'unknown'
      done(isUnknown ? 'unknown' : 'refused')
    }

    function sendOnceConnected(): void {
      const run = () => {
        if (redis.process.state === 'down') sendOnceConnected()
        else redis.add(jobId, rows)
      }
      scheduler.plan({ of: process, what: `sends ${jobId} if connected`, after: retryTicks, run })
    }
  }

  return {
    append(row, done) {
      const deadline = scheduler.now() + deadlineTicks
      const partition = partitionOf(row.receivedAt)
      gathering.add({ partition, characters: 1, row, deadline, done })
      schedule()
    },
  }
}
