import { attemptRequest } from './answer.ts'
import type { Clock } from './clock.ts'
import { parseObject } from './decide.ts'
import type { Drops } from './drops.ts'
import type { FeedbackQueue } from './feedback-queue.ts'
import type { Ports } from './ports.ts'
import type { Sent } from './send-loop.ts'

/**
 * Sends the oldest feedback; undefined: none can be sent. A form that is too large even for a server
 * that leaves out what it cannot keep is sent again without its images, so that the text arrives.
 */
export function createFeedbackSender<Attachment>(options: {
  ports: Pick<Ports<Attachment>, 'transport' | 'time' | 'form'>
  queue: FeedbackQueue
  clock: Clock
  drops: Drops
}): () => Promise<Sent | undefined> {
  const { ports, queue, clock, drops } = options
  const attempt = (payload: string, attachments: readonly unknown[]) =>
    attemptRequest({
      ...ports,
      request: { path: '/feedback', body: ports.form(payload, attachments) },
      successStatus: 201,
      clock,
    })

  return async () => {
    const entry = queue.oldest()
    if (!entry) return undefined
    const stored = await queue.read(entry)
    if (!stored) return { next: 'done' }
    let attempted = await attempt(stored.payload, stored.attachments)
    if (!attempted.answer && attempted.decision === 'split' && stored.attachments.length > 0) {
      drops.add(attempted.code, stored.attachments.length)
      attempted = await attempt(stored.payload, [])
    }
    if (attempted.answer) {
      if (typeof parseObject(attempted.answer.body)['id'] !== 'string') return { next: 'later' }
      await queue.remove(entry)
      return { next: 'done' }
    }
    const { decision, code, retryAfterMs } = attempted
    if (decision === 'stop') return { next: 'stop', reason: code }
    if (decision === 'few') entry.failures++
    if (decision === 'few' || decision === 'retry') return { next: 'later', retryAfterMs }
    drops.add(code, 1)
    await queue.remove(entry)
    return { next: 'done' }
  }
}
