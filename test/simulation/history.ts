/** What became of one request, as the client knows it. */
export type AttemptOutcome = 'created' | 'refused' | 'unknown'

/** Something a client wanted to be stored once: all its attempts have one content. */
export interface Submission {
  content: string
  key: string | undefined
  hasImage: boolean
  outcomes: AttemptOutcome[]
  /** The ids that clients were told with 201. */
  acknowledgedIds: Set<string>
}

/** What clients did and were told. Everything that the verdict knows of the outside. */
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
