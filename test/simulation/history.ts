import type { Request } from './gateway.ts'

/** The outcome of one request, as the client sees it. */
export type AttemptOutcome = 'created' | 'refused' | 'unknown'

/** A record that a client wants stored once: all its attempts have the same content. */
export interface Submission extends Request {
  outcomes: AttemptOutcome[]
  /** The ids that clients got with 201. */
  acknowledgedIds: Set<string>
}

/** All requests and responses of clients, which determine what must be stored. */
export interface History {
  send(request: Request): Submission
  submissions(): Submission[]
}

export function createHistory(): History {
  const submissions = new Map<string, Submission>()
  return {
    send(request) {
      const known = submissions.get(request.content)
      if (known) return known
      const fresh = { ...request, outcomes: [], acknowledgedIds: new Set<string>() }
      submissions.set(request.content, fresh)
      return fresh
    },
    submissions: () => [...submissions.values()],
  }
}
