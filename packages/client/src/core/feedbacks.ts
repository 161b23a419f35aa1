import { attemptRequest } from './answer.ts'
import type { Core } from './core.ts'
import { parseObject } from './decide.ts'
import { feedbackMax, fewAttempts } from './limits.ts'
import { printAccepted } from './print-accepted.ts'
import type { Sent } from './send-loop.ts'

interface StoredFeedback {
  /** The JSON of the feedback. */
  payload: string
  attachments: unknown[]
}

/**
 * The feedback that waits to be sent. It is stored separately from log events, so that they never
 * displace it.
 */
export interface Feedbacks {
  /** Resolves to false if too much feedback waits already, or if it was cleared meanwhile. */
  add(id: string, feedback: StoredFeedback): Promise<boolean>
  /** Takes over feedback of earlier runs. `keys` are the keys of all stored values, in order. */
  adopt(keys: readonly string[]): void
  /**
   * Sends the oldest feedback; resolves to undefined if none can be sent. If the server refuses a
   * form as too large, the form is sent again without its images, so that at least the text
   * arrives.
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
  failures: number
}

/** Each feedback is one value in storage, with its attachments. */
export function createFeedbacks(core: Core): Feedbacks {
  const { ports, storage, drops, refused } = core
  let entries: Entry[] = []
  /**
   * Keys whose values are being stored. `clear` removes them from this list, so that `add` notices
   * it.
   */
  let adding: string[] = []
  const oldest = () => entries.find(({ failures }) => failures < fewAttempts)
  const attempt = (entry: Entry, payload: string, attachments: readonly unknown[]) =>
    attemptRequest(
      core,
      {
        path: '/feedback',
        body: ports.form(printAccepted(parseObject(payload), refused), attachments),
      },
      entry,
    )

  return {
    async add(id, feedback) {
      if (entries.length + adding.length >= feedbackMax) return false
      const key = prefix + id
      adding.push(key)
      await storage.set(key, feedback)
      const isWanted = adding.indexOf(key) >= 0
      adding = adding.filter((one) => one !== key)
      if (isWanted) entries.push({ key, failures: 0 })
      else await storage.remove(key)
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
      const stored = (await storage.get(entry.key)) as StoredFeedback | undefined
      if (stored) {
        const { payload, attachments } = stored
        let attempted = await attempt(entry, payload, attachments)
        if (attempted.isTooLarge && attachments[0]) {
          drops.add(attempted.code, attachments.length)
          attempted = await attempt(entry, payload, [])
        }
        const { body, unsettled, code } = attempted
        if (unsettled) return unsettled
        if (!body) drops.add(code, 1)
      }
      entries = entries.filter((one) => one !== entry)
      await storage.remove(entry.key)
      return {}
    },
    canSend: () => !!oldest(),
    clear() {
      entries = []
      adding = []
    },
    count: () => entries.length,
  }
}
