import { systemClock, untilWholeSecond, type Clock } from '@intake/runtime'
import { addGauge, type Logger, type Registry } from '@intake/runtime/process'
import { createEpisodes } from './episodes.ts'
import {
  byCause,
  helpOf,
  problemCatalogue,
  type ProblemCode,
  type ProblemState,
} from './problem-catalogue.ts'

export interface Problem {
  code: ProblemCode
  state: ProblemState
  /** When the problem began, as an ISO time. */
  since: string
  detail: string
  /** The path of the documentation page that says what to do, from the root of the repository. */
  help: string
}

/** The result of a check that cannot determine it: the problem keeps its last state. */
export const notKnown = Symbol('not known')

/** Returns the problem in words for an operator; undefined if there is none. Must not block. */
export type ProblemCheck = () => string | undefined | typeof notKnown

/** Joins the results of several checks into one result that contains each text once. */
export function joinDetails(
  details: readonly ReturnType<ProblemCheck>[],
): ReturnType<ProblemCheck> {
  const found = details.filter((detail) => typeof detail === 'string')
  if (found.length > 0) return [...new Set(found)].join('; ')
  return details.includes(notKnown) ? notKnown : undefined
}

export interface Problems<Noted extends ProblemCode = never> {
  /** All current problems, in the order of `byCause`. */
  present(): Problem[]
  /** Reports an event that shows the problem, for `lastsMs` (default: five minutes). */
  note(code: Noted, detail: string, lastsMs?: number): void
  close(): void
}

const intervalMs = 1_000
const noteMs = 5 * 60_000
/**
 * Checks problems every second, logs one that has lasted for two seconds and its end, and sets the
 * metric `intake_problem`.
 *
 * @param options.states states that differ from the catalogue; a function is called whenever needed
 */
export function startProblems<Noted extends ProblemCode = never>(options: {
  checks: Partial<Record<ProblemCode, ProblemCheck>>
  noted?: readonly Noted[]
  states?: Partial<Record<ProblemCode, ProblemState | (() => ProblemState)>>
  log: Logger
  metrics: Registry
  clock?: Clock
  wallMs?: () => number
}): Problems<Noted> {
  const { checks, noted = [], states = {}, log, metrics } = options
  const { clock = systemClock, wallMs = Date.now } = options
  const codes = [...new Set([...(Object.keys(checks) as ProblemCode[]), ...noted])]
  const notes = new Map<ProblemCode, { detail: string; untilMs: number }>()
  /** Codes whose checks return `notKnown`, and whose problem was not present before. */
  const unknown = new Set<ProblemCode>()
  /** The problems that the last check found. */
  const lastFound = new Set<ProblemCode>()
  const stateOf = (code: ProblemCode): ProblemState => {
    const state = states[code] ?? problemCatalogue[code].state
    return typeof state === 'function' ? state() : state
  }
  const episodes = createEpisodes({ stateOf, log, clock, wallMs })

  function find(code: ProblemCode): string | undefined {
    const detail = checks[code]?.()
    if (detail === notKnown && !lastFound.has(code)) unknown.add(code)
    else unknown.delete(code)
    if (detail === notKnown) return lastFound.has(code) ? episodes.detailOf(code) : undefined
    if (detail !== undefined) return detail
    const note = notes.get(code)
    return note !== undefined && note.untilMs > clock.now() ? note.detail : undefined
  }

  function present(): Problem[] {
    const found = codes.flatMap((code) => {
      const detail = find(code)
      if (detail === undefined) {
        lastFound.delete(code)
        if (episodes.endIfOver(code)) notes.delete(code)
        return []
      }
      lastFound.add(code)
      const { sinceMs } = episodes.see(code, detail)
      return [{ code, detail, sinceMs }]
    })
    return found
      .map(({ code, detail, sinceMs }) => ({
        code,
        state: stateOf(code),
        since: new Date(sinceMs).toISOString(),
        detail,
        help: helpOf(code),
      }))
      .toSorted(byCause)
  }

  addProblemMetrics(metrics, { codes, present, unknown })

  let timer = clock.setTimeout(tick, 0)
  function tick(): void {
    present()
    timer = clock.setTimeout(tick, untilWholeSecond(intervalMs, clock))
  }

  return {
    present,
    note(code, detail, lastsMs = noteMs) {
      notes.set(code, { detail, untilMs: clock.now() + lastsMs })
    },
    close: () => clock.clearTimeout(timer),
  }
}

export function isReady(problems: readonly Problem[]): boolean {
  return problems.every(({ state }) => state !== 'down')
}

function addProblemMetrics(
  metrics: Registry,
  of: { codes: readonly ProblemCode[]; present: () => Problem[]; unknown: Set<ProblemCode> },
): void {
  const { codes, present, unknown } = of
  addGauge(metrics, {
    name: 'intake_problem',
    help: 'Whether a bad state is present: 1 or 0; absent while that is not known. Each code has a page in docs/operations.',
    labels: ['code'],
    read() {
      const found = new Set(present().map(({ code }) => code))
      return codes.flatMap((code) => {
        if (found.has(code)) return [[{ code }, 1] as [object, number]]
        return unknown.has(code) ? [] : [[{ code }, 0] as [object, number]]
      })
    },
  })
  addGauge(metrics, {
    name: 'intake_ready',
    help: 'Whether the service does its job, as `/readyz`: 1 or 0.',
    read: () => [[{}, isReady(present()) ? 1 : 0]],
  })
}
