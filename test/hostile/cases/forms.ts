import { payloadText, mebibyte } from '../attack/bodies.ts'
import { createTally, exchange } from '../attack/exchange.ts'
import { boundary, form, request } from '../attack/http-text.ts'
import { repeat } from '../attack/loops.ts'
import {
  craftedPictures,
  picturesOfManyParts,
  type CostlyPicture,
} from '../attack/pictures/index.ts'
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
  bodies: () => (string | Buffer)[]
}): HostileCase {
  const { id, title, lanes, pauseMs = 200, bodies } = options
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
    judge({ silent, lost, broken }, expect) {
      expect(silent === 0, `every form has its response within 35 s (${silent} have none)`)
      expect(lost === 0, `no connection closes without a response (${lost})`)
      expect(broken === 0, `no 500 (${broken})`)
    },
  })
}

export const forms = [
  costlyForms({
    id: 'e1',
    title: 'one key: forms with a part of 1 MB without `form-data` disposition',
    lanes: 10,
    bodies: () => [`${payload}${part('content-type: text/plain', mebibyte)}${formEnd}`],
  }),
  costlyForms({
    id: 'e4',
    title: 'one key: forms of 100,000 empty parts, and parts with 10,000 header fields',
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
    lanes: 5,
    bodies: () => [`${payload}${part(attachment, 10 * mebibyte - 1).repeat(4)}${formEnd}`],
  }),
  costlyForms({
    id: 'e8',
    title:
      'one key: forms with four archives of 1 MB that the type detection would search, one at a time',
    lanes: 1,
    pauseMs: 0,
    bodies: () => [
      Buffer.concat([
        Buffer.from(payload),
        ...Array.from({ length: 4 }, () =>
          Buffer.concat([
            Buffer.from(`--${boundary}\r\n${attachment}\r\n\r\n`),
            searchedArchive(),
            Buffer.from('\r\n'),
          ]),
        ),
        Buffer.from(formEnd),
      ]),
    ],
  }),
  costlyForms({
    id: 'e9',
    title:
      'one key: forms of 10 MB with a picture that has as many parts as possible, five at a time',
    lanes: 5,
    bodies: () => formsWith(picturesOfManyParts),
  }),
  costlyForms({
    id: 'e10',
    title:
      'one key: forms with a picture in which a few bytes ask for much: shared tables, profiles, items',
    lanes: 5,
    bodies: () => formsWith(craftedPictures),
  }),
]

function formsWith(pictures: readonly CostlyPicture[]): Buffer[] {
  return pictures.map(({ bytes }) =>
    Buffer.concat([
      Buffer.from(`${payload}--${boundary}\r\n${attachment}\r\n\r\n`),
      bytes(),
      Buffer.from(`\r\n${formEnd}`),
    ]),
  )
}

/** A zip entry without sizes, so that a parser must search for its end. */
function searchedArchive(): Buffer {
  const header = Buffer.alloc(30)
  header.write('PK\x03\x04', 'latin1')
  header.writeUInt16LE(20, 4)
  header.writeUInt16LE(8, 6)
  header.writeUInt16LE(8, 8)
  header.writeUInt16LE(1, 26)
  return Buffer.concat([header, Buffer.from('a'), Buffer.alloc(mebibyte, 'PK\x07\x08')])
}
