/** The outcome of one request, as the client sees it. */
export type AttemptOutcome = 'created' | 'refused' | 'unknown'

/** A record that a client wants stored once: all its attempts have the same content. */
export interface Submission {
  content: string
  key: string | undefined
  hasImage: boolean
  outcomes: AttemptOutcome[]
  /** The ids that clients got with 201. */
  acknowledgedIds: Set<string>
}

/** All requests and responses of clients: what the verdict expects. */
export interface History {
  send(submission: Pick<Submission, 'content' | 'key' | 'hasImage'>): Submission
  submissions(): Submission[]
}

export function createHistory(): History {
  const submissions = new Map<string, Submission>()
  return {
    send({ content, key, hasImage }) {
      const known = submissions.get(content)
      if (known) return known
      const fresh = { content, key, hasImage, outcomes: [], acknowledgedIds: new Set<string>() }
      submissions.set(content, fresh)
      return fresh
    },
    submissions: () => [...submissions.values()],
  }
}
