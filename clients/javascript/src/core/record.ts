import { correctedNow } from './clock.ts'
import { parseObject } from './decide.ts'
import { addDrops } from './drops.ts'
import { leavesOut } from './dropped-names.ts'
import { addFeedback } from './feedbacks.ts'
import { start } from './kept.ts'
import { attachmentsMax, feedbackTextMax, identifierMax, paramsBytesMax } from './limits.ts'
import { isoTime } from './log-event.ts'
import { addEntry } from './log-queue.ts'
import type { Feedback, FeedbackReceipt } from './options.ts'
import type { Ports } from './ports.ts'
import { printJson } from './print-json.ts'
import { save, saveSoon } from './save.ts'
import { readDevice, senderOf, shortText } from './sender.ts'
import { wake } from './sending.ts'
import type { State } from './state.ts'
import { textBytes } from './text-bytes.ts'

/** See `Intake.log`. */
export const log = (client: State, event: string, params?: object | null): string | undefined => {
  if (client.isOut || client.isShut) return undefined
  const { beforeSend } = client.options
  try {
    let name = event
    let text = printJson(params || {})
    if (beforeSend) {
      const changed = beforeSend({ event, params: parseObject(text) })
      if (!changed) return undefined
      name = changed.event
      text = printJson(changed.params)
    }
    if (isText(name, identifierMax) && text[0] === '{') {
      if (textBytes(text) > paramsBytesMax) return drop(client, 'too_large')
      return leavesOut(client, name) ? undefined : add(client, name, parseObject(text))
    }
  } catch {
    // `beforeSend` threw an error, or returned no params.
  }
  return drop(client, 'invalid_event')
}

/** See `Intake.feedback`. */
export const feedback = async <Attachment>(
  client: State,
  sent: Feedback<Attachment>,
): Promise<FeedbackReceipt> => {
  const { user, keepAttachment } = client as State & Ports<Attachment>
  const nowMs = correctedNow(client)
  const id = client.nextId(nowMs)
  let reason = 'invalid_feedback'
  try {
    const { attachments, ...given } = sent
    const fields = parseObject(printJson(given))
    // An app without TypeScript may pass a single attachment instead of a list.
    const all = ([] as Attachment[]).concat(attachments || [])
    const first = all.slice(0, attachmentsMax)
    const keeping = Promise.all(first.map(keepAttachment))
    await start(client)
    await readDevice(client)
    const payload = JSON.stringify({
      ...senderOf(client, user, true),
      feedback: {
        ...fields,
        id,
        email: shortText(fields['email']),
        attachments: [],
        timestamp: isoTime(nowMs),
      },
    })
    const kept = (await keeping).filter(Boolean)
    if (isText(fields['text'], feedbackTextMax)) {
      if (await addFeedback(client, id, { payload, attachments: kept })) {
        addDrops(client, 'too_many_attachments', all.length - first.length)
        addDrops(client, 'invalid_attachment', first.length - kept.length)
        wake(client)
        return { id, isKept: true }
      }
      reason = 'feedback_full'
    }
  } catch {
    // `sent` is no object.
  }
  if (client.isOut || client.isShut) reason = 'off'
  else drop(client, reason)
  return { id, isKept: false, reason }
}

/**
 * Logs an event that reports the dropped records. Returns its id; undefined if nothing is logged.
 */
export const reportDrops = (client: State): string | undefined => {
  const counts = client.unreported
  if (!Object.keys(counts)[0] || client.isOut || client.isShut) return undefined
  client.unreported = {}
  client.areDropsNew = true
  return add(client, 'intake.dropped', counts)
}

const add = (client: State, event: string, params: unknown): string => {
  const { flushIntervalMs = 5000 } = client.options
  const nowMs = correctedNow(client)
  const { offset } = client.era
  const id = client.nextId(nowMs)
  const timestamp = offset ? isoTime(nowMs - offset) : undefined
  addEntry(client, { id, event, params, timestamp })
  saveSoon(client)
  if (!client.flushTimer)
    client.flushTimer = client.setTimeout(
      () => {
        client.flushTimer = undefined
        if (client.isShut) return
        client.isDue = true
        void save(client).then(() => wake(client))
        // Reads the device again, because its battery level may have changed.
        void readDevice(client)
      },
      flushIntervalMs,
      true,
    )
  return id
}

const drop = (client: State, reason: string): undefined => {
  addDrops(client, reason, 1)
  saveSoon(client)
  return undefined
}

/** Whether the value is a text of 1 to `lengthMax` characters. */
const isText = (value: unknown, lengthMax: number): unknown =>
  typeof value === 'string' && value && !Array.from(value)[lengthMax]
