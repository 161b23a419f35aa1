import { acceptedOf } from './accepted.ts'
import { attemptRequest, type ResponseBody } from './answer.ts'
import { parseObject, resultsOf } from './decide.ts'
import { addDrops } from './drops.ts'
import { feedbackMax } from './limits.ts'
import { nextOf, without, type Attemptable } from './segment-list.ts'
import type { Sent } from './sent.ts'
import type { State } from './state.ts'

// Feedback that waits is stored separately from log events, so that these never displace it.

interface StoredFeedback {
  payload: string
  attachments: unknown[]
}

export interface WaitingFeedback extends Attemptable {
  key: string
}

export const isFeedback = (key: string): boolean => key.startsWith('feedback-')

/**
 * Stores a feedback. Resolves to false after `optOut` or `shutdown`, if too much feedback waits, or
 * if all feedback was deleted while this one was being stored.
 */
export const addFeedback = async (
  client: State,
  id: string,
  feedback: StoredFeedback,
): Promise<boolean> => {
  if (client.isOut || client.isShut || client.feedbacks.length >= feedbackMax) return false
  // Not sent before it is stored.
  const entry: WaitingFeedback = { key: `feedback-${id}`, failures: 0, isResting: true }
  client.feedbacks.push(entry)
  await client.records.set(entry.key, feedback)
  entry.isResting = false
  if (client.feedbacks.includes(entry)) return true
  await client.records.remove(entry.key)
  return false
}

/** Takes over feedback of earlier runs. `keys` are all keys in storage, in ascending order. */
export const adoptFeedback = (client: State, keys: readonly string[]): void => {
  const { feedbacks } = client
  client.feedbacks = keys
    .filter((key) => isFeedback(key) && feedbacks.every((entry) => entry.key !== key))
    .map((key): WaitingFeedback => ({ key, failures: 1 }))
    .concat(feedbacks)
}

/**
 * Sends the first feedback that may be sent, and moves it to the end of the list. Resolves to
 * undefined if no feedback may be sent. If the server refuses a form as too large, the form is sent
 * again without its images, so that at least the text arrives.
 */
export const sendFeedback = async (client: State): Promise<Sent | undefined> => {
  const entry = nextOf(client.feedbacks)
  if (!entry) return undefined
  // Moves the feedback to the end of the list, so that it does not block other feedback.
  client.feedbacks = without(client.feedbacks, entry).concat(entry)
  const stored = (await client.records.get(entry.key)) as StoredFeedback | undefined
  if (stored) {
    const { payload, attachments } = stored
    const text = JSON.stringify(acceptedOf(client, parseObject(payload)))
    const { body, unsettled, code, isTooLarge } = await attemptRequest(
      client,
      { path: '/feedback', body: client.form(text, attachments) },
      entry,
    )
    if (unsettled) return unsettled
    if (isTooLarge && attachments[0] && !client.isOut) {
      addDrops(client, code, attachments.length)
      await client.records.set(entry.key, { payload, attachments: [] })
      return {}
    }
    if (body) countRefused(client, body)
    else addDrops(client, code, 1)
  }
  client.feedbacks = without(client.feedbacks, entry)
  await client.records.remove(entry.key)
  return {}
}

/** Counts each refused image as dropped. The server has stored the rest of the feedback. */
const countRefused = (client: State, body: ResponseBody): void => {
  for (const { status, code = 'unknown' } of resultsOf(body.attachments))
    if (status !== 'stored') addDrops(client, code, 1)
}
