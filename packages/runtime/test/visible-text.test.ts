import fc from 'fast-check'
import t from 'tap'
import { visibleJson, visibleLine, visibleText } from '../src/visible-text.ts'
import { logTo } from '@intake/test-kit/log-to'

/** Characters that a terminal interprets, or that are invisible. */
const harmful =
  /[^\P{Cc}\t\n]|[\u2028\u2029\u200b\u200e\u200f\u061c\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '\u001b[2J',
      '\u009b31m',
      '\u202e',
      '\u2066',
      '\u200b',
      '\u{e0041}',
      '\r',
      '\b',
    ),
    fc.constantFrom('\n', '\t', '\ud800', '\udc00', '\u007f', '"', '\\', '\\u001b', 'é', '👩‍💻'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  ),
})

t.test('a text for a terminal keeps no character that a terminal obeys', async (t) => {
  fc.assert(fc.property(hostile, (text) => !harmful.test(visibleText(text))))
  fc.assert(fc.property(hostile, (text) => !/[\t\n]/.test(visibleLine(text))))
  t.equal(visibleText('a\u001b[31m\n\u202eb\ud800'), 'a<U+001B>[31m\n<U+202E>b\ufffd')
  t.equal(visibleLine('x\tlogs\nstored'), 'x<U+0009>logs<U+000A>stored')
  t.equal(visibleText('a\r\nb\rc\n\rd'), 'a\nb\nc\n\nd', 'line ends are line ends')
  t.equal(visibleLine('a\r\nb'), 'a<U+000A>b')
  t.equal(visibleText('日本 שלום 👩‍💻 \ufe0f é'), '日本 שלום 👩‍💻 \ufe0f é', 'texts stay')
})

t.test('JSON for a terminal means the same', async (t) => {
  const values = fc.dictionary(hostile, fc.oneof(hostile, fc.array(hostile)))
  fc.assert(
    fc.property(values, (value) => {
      const json = visibleJson(JSON.stringify(value, null, 2))
      t.same(JSON.parse(json), JSON.parse(JSON.stringify(value)))
      return !harmful.test(json)
    }),
  )
  t.equal(visibleJson('"\u009b\u{e0041}"'), '"\\u009b\\udb40\\udc41"')
})

t.test('a line of the log keeps no such character', async (t) => {
  const lines: string[] = []
  const log = logTo((line) => void lines.push(line))
  const text = 'before \u001b[2J\u009b\u202e after'
  log.warn({ err: new Error(text), detail: text }, text)
  t.notMatch(lines[0], harmful)
  t.match(JSON.parse(lines[0] ?? ''), { msg: text, detail: text, err: { message: text } })
})
