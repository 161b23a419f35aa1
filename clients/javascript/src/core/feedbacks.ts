import { attemptRequest } from './answer.ts'
import type { Core } from './core.ts'
import { parseObject, resultsOf } from './decide.ts'
import { feedbackMax, fewAttempts } from './limits.ts'
import { printAccepted } from './print-accepted.ts'
import type { Sent } from './sent.ts'

interface StoredFeedback {
  payload: string
  attachments: unknown[]
}

/**
 * The feedback that waits to be sent. It is stored separately from log events, so that these never
 * displace feedback.
 */
export interface Feedbacks {
  /**
   * Stores a feedback. Resolves to false if too much feedback waits, or if all feedback was deleted
   * while this one was being stored.
   */
  add(id: string, feedback: StoredFeedback): Promise<boolean>
  /** Takes over feedback of earlier runs. `keys` are all keys in storage, in ascending order. */
  adopt(keys: readonly string[]): void
  /**
   * Sends the first feedback that may be sent, and moves it to the end of the list. Resolves to
   * undefined if no feedback may be sent. If the server refuses a form as too large, the form is
   * sent again without its images, so that at least the text arrives.
   */
  send(): Promise<Sent | undefined>
  canSend(): boolean
  clear(): void
  count(): number
}

const prefix = 'feedback-'
export const isFeedback = (key: string): boolean => key.indexOf(prefix) === 0

interface Entry {
  key: string
  /** The number of attempts that got status 500. With `fewAttempts`, a feedback is not sent. */
  failures: number
}

export function createFeedbacks(core: Core): Feedbacks {
  const { ports, storage, drops } = core
  let entries: Entry[] = []
  const oldest = () => entries.find(({ failures }) => failures < fewAttempts)
  const attempt = (entry: Entry, payload: string, attachments: readonly unknown[]) =>
    attemptRequest(
      core,
      {
        path: '/feedback',
        body: ports.form(printAccepted(parseObject(payload), core), attachments),
      },
      entry,
    )

  /** Counts each refused image as dropped. The server has stored the rest of the feedback. */
  function countRefused(body: string): void {
    for (const { status, code = 'unknown' } of resultsOf(parseObject(body)['attachments']))
      if (status !== 'stored') drops.add(code, 1)
  }

  return {
    async add(id, feedback) {
      if (entries.length >= feedbackMax) return false
      // Not sent before it is stored.
      const entry = { key: prefix + id, failures: fewAttempts }
      entries.push(entry)
      await storage.set(entry.key, feedback)
      entry.failures = 0
      const isWanted = entries.indexOf(entry) >= 0
      if (!isWanted) await storage.remove(entry.key)
      return isWanted
    },
    adopt(keys) {
      entries = keys
        .filter((key) => isFeedback(key) && entries.every((entry) => entry.key !== key))
        .map((key) => ({ key, failures: 0 }))
        .concat(entries)
    },
    async send() {
      const entry = oldest()
      if (!entry) return undefined
      // Moves the feedback to the end of the list, so that it does not block other feedback.
      entries = entries.filter((one) => one !== entry).concat(entry)
      const stored = (await storage.get(entry.key)) as StoredFeedback | undefined
      if (stored) {
        const { payload, attachments } = stored
        let attempted = await attempt(entry, payload, attachments)
        const { code: reason, isTooLarge } = attempted
        const isWithout = isTooLarge && attachments.length > 0
        if (isWithout) attempted = await attempt(entry, payload, [])
        const { body, unsettled, code } = attempted
        if (unsettled) return unsettled
        if (isWithout) drops.add(reason, attachments.length)
        if (body) countRefused(body)
        else drops.add(code, 1)
      }
      entries = entries.filter((one) => one !== entry)
      await storage.remove(entry.key)
      return {}
    },
    canSend: () => !!oldest(),
    clear() {
      entries = []
    },
    count: () => entries.length,
  }
}
