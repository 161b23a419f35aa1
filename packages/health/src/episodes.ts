import type { Clock } from '@intake/runtime'
import type { Logger } from '@intake/runtime/process'
import {
  helpOf,
  problemCatalogue,
  type ProblemCode,
  type ProblemState,
} from './problem-catalogue.ts'

interface Episode {
  /** The wall-clock time when the problem began. */
  sinceMs: number
  beganAt: number
  /** When the problem was last present. */
  seenAt: number
  detail: string
  /** The worst state that has been logged. */
  logged: ProblemState | undefined
}

/** A problem that ends and returns within this time counts as one uninterrupted problem. */
const quietMs = 10_000
/** A problem that ends within this time, like many at the start of a process, is not logged. */
const lastingMs = 2_000

/** Follows how long problems last, and logs when one has lasted, becomes worse, and is over. */
export function createEpisodes(options: {
  stateOf: (code: ProblemCode) => ProblemState
  log: Logger
  clock: Clock
  wallMs: () => number
}): {
  see(code: ProblemCode, detail: string): Pick<Episode, 'sinceMs'>
  detailOf(code: ProblemCode): string | undefined
  /** Ends the episode of a problem that is no longer present; returns whether it has ended. */
  endIfOver(code: ProblemCode): boolean
} {
  const { stateOf, log, clock, wallMs } = options
  const episodes = new Map<ProblemCode, Episode>()

  function begin(code: ProblemCode): Episode {
    const now = clock.now()
    const episode = { sinceMs: wallMs(), beganAt: now, seenAt: now, detail: '', logged: undefined }
    episodes.set(code, episode)
    return episode
  }

  return {
    see(code, detail) {
      const episode = episodes.get(code) ?? begin(code)
      episode.seenAt = clock.now()
      episode.detail = detail
      const state = stateOf(code)
      const isWorse =
        episode.logged === undefined || (episode.logged === 'degraded' && state === 'down')
      if (isWorse && episode.seenAt - episode.beganAt >= lastingMs) {
        episode.logged = state
        const level = state === 'down' ? 'error' : 'warn'
        log[level]({ problem: code, detail, help: helpOf(code) }, problemCatalogue[code].title)
      }
      return episode
    },
    detailOf: (code) => episodes.get(code)?.detail,
    endIfOver(code) {
      const episode = episodes.get(code)
      if (episode === undefined || clock.now() - episode.seenAt < quietMs) return false
      episodes.delete(code)
      if (episode.logged !== undefined) {
        const seconds = Math.round((episode.seenAt - episode.beganAt) / 1_000)
        log.info({ problem: code, seconds }, `over: ${problemCatalogue[code].title}`)
      }
      return true
    },
  }
}
