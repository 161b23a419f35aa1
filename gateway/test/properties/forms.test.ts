import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import t from 'tap'
import { imageTypeOf } from '../../src/form/image-type.ts'
import { examinePicture, PictureError } from '@intake/pictures'
import { parseLossless } from '@intake/json'
import { feedbackPayload, images } from '../support.ts'
import { anyFaults, damage, exchange, isRefused, startServer } from './exchange.ts'
import { checkProperty } from './property.ts'
import { readParts } from './reference-form.ts'
import { expectEqual, takeRows, wellFormed } from './stored.ts'

const text = JSON.stringify(feedbackPayload({ text: 'Größe 😀\r\n--b?', email: 'a@b.c' }))

const disposition = 'content-disposition: form-data; name='

const goodPart = fc.constantFrom<[string, Buffer]>(
  [`${disposition}"attachments"; filename="a.png"`, images.png],
  [`${disposition}"file"; filename="a.gif"\r\ncontent-type: text/plain`, images.gif],
  [`${disposition}"attachments[]"\r\ncontent-type: image/webp`, images.webp],
  [`${disposition}"image"; filename=""`, Buffer.alloc(0)],
  [`${disposition}"note"`, Buffer.from('a note')],
)
const badPart = fc
  .tuple(
    fc.constantFrom(
      'x-no: disposition',
      'content-disposition: attachment; name="a"; filename="b"',
      `${disposition}"a"; filename="b.txt"`,
      disposition,
      `${disposition}"${'n'.repeat(300)}"`,
      `x-long: ${'h'.repeat(90_000)}\r\n${disposition}"a"; filename="b"`,
      `${disposition}"__proto__"`,
      `${disposition}"payload"; filename="f"`,
      'no colon',
    ),
    fc.constantFrom(0, 1, 100, 3_000, 16_500, 70_000),
  )
  .map(([header, bytes]): [string, Buffer] => [header, Buffer.alloc(bytes, 'f')])

/** A part: its header and its content. */
const part: Arbitrary<[string, Buffer]> = fc.oneof(
  { arbitrary: goodPart, weight: 12 },
  { arbitrary: badPart, weight: 1 },
)

/** Usually produces the first value, rarely one of the other values. */
const rarely = <Value>(usual: Value, ...others: Value[]) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 8 }, fc.constantFrom(...others))

const forms = fc.record({
  parts: fc.array(part, { maxLength: 4 }),
  /** The position of the payload among the parts. */
  place: fc.nat(4),
  before: rarely('', 'garbage\r\n', 'garbage', '\r\n', '--', '--b--\r\n', '--b\r\n'),
  behind: rarely('', 'garbage', '--b\r\n', 'garbage'.repeat(10_000)),
  close: rarely('--b--\r\n', '--b--', '--b', '--b-', ''),
  isLenient: fc.boolean(),
  faults: anyFaults,
  cuts: fc.array(fc.nat(), { maxLength: 6 }),
  chunked: fc.boolean(),
})

function formOf(parts: [string, Buffer][], close: string): Buffer {
  const pieces = parts.flatMap(([header, content]) => [`--b\r\n${header}\r\n\r\n`, content, '\r\n'])
  return Buffer.concat([...pieces, close].map((piece) => Buffer.from(piece)))
}

/**
 * Returns the bytes that the gateway stores for a picture, in hexadecimal; empty for anything else.
 * Removes metadata, because a fault may have turned some bytes into metadata.
 */
function keptOf(content: Buffer): string {
  try {
    const picture = examinePicture(Buffer.from(content), imageTypeOf(content) ?? '')
    return picture.removeMetadata().toString('hex')
  } catch (error) {
    if (error instanceof PictureError) return ''
    throw error
  }
}

const type = { 'content-type': 'multipart/form-data; boundary=b' }
const payload: [string, Buffer] = [`${disposition}"payload"`, Buffer.from(text)]

t.test('a form, damaged and cut into segments, is stored as sent or refused', async (t) => {
  const gateway = await startServer(t, { ATTACHMENT_BYTES_MAX: '50000' })
  let accepted = 0
  await checkProperty(t, {
    runs: 500,
    value: forms,
    async holds({ parts, place, before, behind, close, isLenient, faults: ofForm, cuts, chunked }) {
      const all = parts.toSpliced(place, 0, payload)
      const whole = Buffer.concat([Buffer.from(before), formOf(all, close + behind)])
      const body = damage(whole, ofForm)
      const headers = { ...type, ...(isLenient ? { prefer: 'handling=lenient' } : {}) }
      const response = await exchange(gateway.app, {
        path: '/api/feedback',
        headers,
        body,
        cuts,
        chunked,
      })
      const rows = takeRows(gateway, 'feedback')
      const objects = [...gateway.objects.values()].map(({ body: stored }) =>
        stored.toString('hex'),
      )
      gateway.objects.clear()
      if (isRefused(response)) {
        expectEqual([rows, objects], [[], []])
        return
      }
      accepted++
      const sent = readParts(body)
      const { feedback } = parseLossless(sent.payload) as { feedback: { text: string } }
      expectEqual(rows[0]?.['text'], wellFormed(feedback.text))
      const isStored = (content: Buffer) => objects.includes(keptOf(content))
      const asSent = sent.contents.filter(isStored).map(keptOf)
      expectEqual(objects, asSent)
      // A fault may have turned a file into a text part; its content is then stored in `extra`.
      const { form = {} } = (rows[0]?.['extra'] ?? {}) as { form?: Record<string, unknown> }
      const texts = new Set(Object.values(form).flat())
      const lost = sent.files.filter((file) => !isStored(file) && !texts.has(file.toString()))
      if (!isLenient) expectEqual(lost, [])
      const stored = (response.body.attachments ?? []).filter(({ status }) => status === 'stored')
      expectEqual(stored.length, objects.length)
    },
  })
  t.comment(`${accepted} of them accepted`)
})

const small = formOf([payload, [`${disposition}"file"; filename="a"`, images.gif]], '--b--\r\n')

t.test('a form that is truncated anywhere is refused', async (t) => {
  const gateway = await startServer(t, { ATTACHMENT_BYTES_MAX: '50000' })
  // Without the line break after the last delimiter, a form is still complete.
  const cases = small.length - 2
  for (let end = 0; end < cases; end++) {
    const body = small.subarray(0, end)
    const response = await exchange(gateway.app, { path: '/api/feedback', headers: type, body })
    if (response.status !== 400) t.fail(`${response.status} after ${end} bytes`)
  }
  t.equal(gateway.frames.feedback.length, 0, `${cases} cases`)
  t.equal(gateway.objects.size, 0)
})

t.test('a form is stored as sent wherever it is split into two segments', async (t) => {
  const gateway = await startServer(t, { ATTACHMENT_BYTES_MAX: '50000' })
  for (let cut = 1; cut < small.length; cut++) {
    const request = { path: '/api/feedback', headers: type, body: small, cuts: [cut] }
    const response = await exchange(gateway.app, { ...request, chunked: cut % 2 === 0 })
    const [row] = takeRows(gateway, 'feedback')
    if (response.status !== 201) t.fail(`${response.status} at ${cut}`)
    expectEqual(row?.['text'], 'Größe 😀\r\n--b?')
    expectEqual([...gateway.objects.values()][0]?.body, images.gif)
    gateway.objects.clear()
  }
  t.pass(`${small.length - 1} cases`)
})
