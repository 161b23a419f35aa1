import { hash } from 'node:crypto'
import type { SandboxRecord } from '@intake/sandbox'
import type { SentAttachment } from '../adapter.ts'
import { payloadOf } from '../attempt.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { tap, type Trial } from '../trial.ts'
import { wrongDevice } from './refusals.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const picture: SentAttachment = {
  name: 'screen.png',
  type: 'image/png',
  base64: png.toString('base64'),
}
const noPicture: SentAttachment = {
  name: 'notes.png',
  type: 'image/png',
  base64: Buffer.from('These are notes.').toString('base64'),
}

const storedFeedback = ({ records }: Trial, text: string): SandboxRecord[] =>
  records('feedback').filter((feedback) => feedback.text === text)

const drainFeedback = (trial: Trial, text: string) =>
  trial.drain(`the feedback "${text}" is stored`, () => storedFeedback(trial, text).length > 0)

const feedbackAttempts = ({ attempts }: Trial) =>
  attempts().filter(({ path }) => path === '/api/feedback')

function survives(
  title: string,
  fault: Parameters<Trial['fault']>[0],
  options: { timesAccepted: number },
): ConformanceCase {
  return {
    title,
    needs: ['feedback'],
    async run(trial) {
      const { start, sender, settle, expect } = trial
      await start()
      trial.fault({ ...fault, times: 2 })
      await sender.feedback({ text: 'It broke.', attachments: [picture] })
      await drainFeedback(trial, 'It broke.')
      await settle()
      const sent = await Promise.all(feedbackAttempts(trial).map(payloadOf))
      const ids = new Set(sent.map((payload) => payload?.feedback.id))
      expect(sent.length >= 3, () => `${sent.length} attempts`)
      expect(ids.size === 1 && !ids.has(undefined), () => `sent under ${[...ids].join(', ')}`)
      const [first, ...others] = storedFeedback(trial, 'It broke.')
      expect(others.length === 0, () => `${others.length + 1} records`)
      expect(
        (first?.times_accepted ?? 0) >= options.timesAccepted,
        () => `accepted ${first?.times_accepted} times`,
      )
    },
  }
}

export const feedback: ConformanceCase[] = [
  {
    title: 'delivers a feedback with text, e-mail and picture',
    needs: ['feedback'],
    async run(trial) {
      const { start, sender, settle, drainLogs, attempts, expect } = trial
      await start()
      await sender.feedback({
        text: 'Größer, please.',
        email: 'user@example.com',
        attachments: [picture],
      })
      await drainFeedback(trial, 'Größer, please.')
      await settle()
      const stored = storedFeedback(trial, 'Größer, please.')
      expect(stored.length === 1, () => `${stored.length} records`)
      expect(stored[0]?.email === 'user@example.com', () => `its e-mail is ${stored[0]?.email}`)
      const [attachment] = stored[0]?.attachments ?? []
      expect(attachment?.sha256 === hash('sha256', png), () => {
        return `its picture has ${attachment?.bytes ?? 0} of ${png.length} bytes`
      })
      // A sender that wrongly believes that the picture was refused logs `intake.dropped`. Event 1
      // makes the sender send its logs, so that such a report arrives.
      await sender.log(tap, { n: 1 })
      await drainLogs(1)
      await settle()
      const reports = attempts()
        .flatMap(({ events }) => events)
        .filter(({ event }) => event === 'intake.dropped')
      expect(reports.length === 0, () => `it reports ${JSON.stringify(reports[0]?.params)}`)
    },
  },
  survives(
    'keeps the id of a feedback over a retry',
    { status: 503, retryAfter: 0 },
    { timesAccepted: 1 },
  ),
  survives(
    'makes one record of a feedback whose answer was lost',
    { loseResponse: true },
    { timesAccepted: 3 },
  ),
  {
    title: 'keeps a feedback and its picture over a kill',
    needs: ['feedback'],
    async run(trial) {
      const { start, block, heal, sender, drain, attempts, expect } = trial
      await start()
      block()
      await sender.feedback({ text: 'It broke.', attachments: [picture] })
      await drain('an attempt is made', () => attempts().length > 0)
      await sender.kill()
      heal()
      await start()
      await drainFeedback(trial, 'It broke.')
      const [stored] = storedFeedback(trial, 'It broke.')
      expect(stored?.attachments?.length === 1, () => `${stored?.attachments?.length} pictures`)
    },
  },
  {
    title: 'loses no text for a picture that is none',
    needs: ['feedback'],
    async run(trial) {
      const { start, sender, expect } = trial
      await start()
      await sender.feedback({ text: 'It broke.', attachments: [noPicture, picture] })
      await drainFeedback(trial, 'It broke.')
      const [stored] = storedFeedback(trial, 'It broke.')
      expect(stored?.attachments?.length === 1, () => `${stored?.attachments?.length} pictures`)
    },
  },
  {
    title: 'loses no text for an e-mail that is none',
    needs: ['feedback'],
    async run(trial) {
      await trial.start()
      await trial.sender.feedback({ text: 'It broke.', email: 'not an address' })
      await drainFeedback(trial, 'It broke.')
    },
  },
  {
    title: 'loses no text for a property of its device that is refused',
    needs: ['feedback', 'device'],
    async run(trial) {
      await trial.start({ device: wrongDevice })
      await trial.sender.feedback({ text: 'It broke.' })
      await drainFeedback(trial, 'It broke.')
    },
  },
  {
    title: 'does not repeat a feedback that is refused, and sends the next one',
    needs: ['feedback'],
    async run(trial) {
      const { start, fault, sender, drain, settle, expect } = trial
      await start()
      fault({ status: 422, path: '/api/feedback' })
      await sender.feedback({ text: 'The first.' })
      const ended = () => feedbackAttempts(trial)[0]?.seen.endedAt !== undefined
      await drain('the first attempt ends', ended)
      await sender.feedback({ text: 'The second.' })
      await drainFeedback(trial, 'The second.')
      await settle()
      const sent = await Promise.all(feedbackAttempts(trial).map(payloadOf))
      const firsts = sent.filter((payload) => payload?.feedback.text === 'The first.')
      expect(firsts.length === 1, () => `it was sent ${firsts.length} times`)
    },
  },
  {
    title: 'holds no feedback up behind logs',
    needs: ['feedback'],
    async run(trial) {
      const { start, fault, sender } = trial
      await start()
      for (const path of ['/api/log', '/api/log/batch'] as const) {
        fault({ status: 503, code: 'queue_full', retryAfter: 30, times: 1_000, path })
      }
      await sender.logs(tap, 20)
      await trial.drain(
        'the logs are refused',
        () => trial.attempts()[0]?.seen.endedAt !== undefined,
      )
      await sender.feedback({ text: 'It broke.' })
      await drainFeedback(trial, 'It broke.')
    },
  },
  {
    title: 'holds no logs up behind feedback',
    needs: ['feedback'],
    async run(trial) {
      const { start, fault, sender, drain, drainLogs } = trial
      await start()
      fault({ resetAfterBytes: 0, times: 1_000, path: '/api/feedback' })
      await sender.feedback({ text: 'It broke.' })
      await drain('the feedback is refused', () => feedbackAttempts(trial).length > 0)
      await sender.logs(tap, 20)
      await drainLogs(20)
    },
  },
  {
    title: 'never lets feedback give way to logs',
    needs: ['feedback', 'bounds'],
    async run(trial) {
      const { start, block, heal, sender, drain, attempts } = trial
      await start({ storageEventsMax: 100 })
      block()
      await sender.feedback({ text: 'It broke.', attachments: [picture] })
      await sender.logs(tap, 2_000)
      await drain('an attempt is made', () => attempts().length > 0)
      heal()
      await drainFeedback(trial, 'It broke.')
    },
  },
]
