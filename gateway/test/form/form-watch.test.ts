import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { watchForm, type FormWatch } from '../../src/form/form-watch.ts'

const boundary = 'limit'
const form = Buffer.from(
  [
    '--limit\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n--limi\r\n--limitless',
    '--limit\r\n\r\nb\r\n-',
    '--limit--',
    '--limit\r\nafter the end',
  ].join('\r\n'),
)

/** Returns the results of a form watch for a body that arrives in these chunks. */
function watched(chunks: readonly Buffer[]): Pick<FormWatch, 'parts' | 'reason'> {
  const raw = Object.assign(new PassThrough(), {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  const watch = watchForm(raw as unknown as IncomingMessage, Infinity)
  for (const chunk of chunks) raw.emit('data', chunk)
  watch.close()
  return watch
}

t.test('a delimiter counts once, wherever two chunks divide the form', async (t) => {
  for (let first = 0; first <= form.length; first++) {
    for (let second = first; second <= form.length; second++) {
      const chunks = [form.subarray(0, first), form.subarray(first, second), form.subarray(second)]
      const { parts, reason } = watched(chunks)
      // The watch must give a reason: in `--limitless`, no line break follows the delimiter
      // `--limit`.
      if (parts() !== 3 || reason() === undefined) {
        return t.fail(`cut at ${first} and ${second}: ${parts()} parts, ${reason()}`)
      }
    }
  }
  t.pass('every pair of cuts')
})

t.test('a delimiter counts once if every byte arrives alone', async (t) => {
  t.equal(watched([...form].map((byte) => Buffer.of(byte))).parts(), 3)
})
