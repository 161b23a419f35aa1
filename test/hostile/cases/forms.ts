import { payloadText, mebibyte } from '../attack/bodies.ts'
import { createTally, exchange } from '../attack/exchange.ts'
import { boundary, form, request } from '../attack/http-text.ts'
import { repeat } from '../attack/loops.ts'
import { costlyPictures } from '../attack/pictures.ts'
import { hostileCase, type HostileCase } from '../hostile-case.ts'

const payload = `--${boundary}\r\ncontent-disposition: form-data; name="payload"\r\n\r\n${payloadText()}\r\n`
const formEnd = `--${boundary}--\r\n`
const part = (header: string, bytes: number) =>
  `--${boundary}\r\n${header}\r\n\r\n${'x'.repeat(bytes)}\r\n`
const attachment = 'content-disposition: form-data; name="attachments"; filename="a.png"'

/** A case in which one key sends forms in turn. Each form is written completely, at once. */
function costlyForms(options: {
  id: string
  title: string
  lanes: number
  pauseMs?: number
  /** The statuses of the forms: with any other, they did not get as far as their cost. */
  reaches: readonly number[]
  bodies: () => (string | Buffer)[]
}): HostileCase {
  const { id, title, lanes, pauseMs = 200, reaches, bodies } = options
  return hostileCase({
    id,
    title,
    async attack(attacker) {
      const { tally, start, end } = createTally()
      const headers = { ...form, 'x-api-key': attacker.apiKey }
      const requests = bodies().map((body) => request('POST /api/feedback', headers, body))
      let next = 0
      await repeat({ lanes, pauseMs, signal: attacker.signal }, async () => {
        const bytes = requests[next++ % requests.length] ?? ''
        start()
        end(await exchange(attacker, bytes, 36_000))
      })
      return tally
    },
    judge({ silent, lost, broken, ...statuses }, expect) {
      expect(silent === 0, `every form has its response within 35 s (${silent} have none)`)
      expect(lost === 0, `no connection closes without a response (${lost})`)
      expect(broken === 0, `no 500 (${broken})`)
      const missing = reaches.filter((status) => !statuses[status])
      expect(missing.length === 0, `some get ${reaches.join(', ')} (none ${missing.join(', ')})`)
    },
  })
}

export const forms = [
  costlyForms({
    id: 'e4',
    title: 'one key: forms of 100,000 empty parts, and parts with 10,000 header fields',
    reaches: [400, 413],
    lanes: 6,
    bodies: () => [
      `${payload}${`--${boundary}\r\n${attachment}\r\n\r\n\r\n`.repeat(100_000)}${formEnd}`,
      `${payload}--${boundary}\r\n${'a: b\r\n'.repeat(10_000)}\r\n\r\n${formEnd}`,
      `${payload}--${boundary}\r\na: ${'b'.repeat(mebibyte)}\r\n\r\n\r\n${formEnd}`,
    ],
  }),
  costlyForms({
    id: 'e5',
    title: 'one key: forms of 40 MB with four files that are not images, five at a time',
    reaches: [415],
    lanes: 5,
    bodies: () => [`${payload}${part(attachment, 10 * mebibyte - 1).repeat(4)}${formEnd}`],
  }),
  costlyForms({
    id: 'e9',
    title:
      'one key: forms with a picture that has as many parts as possible, or asks for much, five at a time',
    reaches: [201, 415],
    lanes: 5,
    bodies: () =>
      costlyPictures.map(({ bytes }) =>
        Buffer.concat([
          Buffer.from(`${payload}--${boundary}\r\n${attachment}\r\n\r\n`),
          bytes(),
          Buffer.from(`\r\n${formEnd}`),
        ]),
      ),
  }),
]
