import t from 'tap'
import { readFeedbackCsv } from '../../src/page/feedback-csv.ts'

/** The cell of a feedback with this text. */
async function cellOf(text: string, name = 'text'): Promise<string> {
  const reader = {
    query: async <Row>() => [{ [`${name}_`]: text }] as Row[],
    lines: async () => [],
  }
  const csv = await readFeedbackCsv(reader, {}, { from: 0, to: 1 })
  const [, cell = ''] =
    /^(?:"",)*"([^]+?)"(?:,"")*\r\n$/.exec(csv.slice(csv.indexOf('\n') + 1)) ?? []
  return cell
}

t.test('no text of a client is a formula, wherever a spreadsheet begins a cell', async (t) => {
  const texts: Record<string, string> = {
    '=1+1': "'=1+1",
    '\n=1+1': "\n'=1+1",
    'a\r\n @x': "a\n' @x",
    '\r=1': "\n'=1",
    'a;=HYPERLINK("x")': `a;'=HYPERLINK(""x"")`,
    'a,"=1': `a,'""=1`,
    '\uFF1D1': "'\uFF1D1",
    '\u200D=1': "'\u200D=1",
    '\tx': "'\tx",
    'a = b, c - d': 'a = b, c - d',
  }
  for (const [text, cell] of Object.entries(texts)) t.equal(await cellOf(text), cell, text)
})

t.test('what cannot be seen is shown as on the page, and JSON stays the same', async (t) => {
  t.equal(
    await cellOf('\uFEFF=1 \u202Egnp.\u0000\u001B[2J'),
    '<U+FEFF>=1 <U+202E>gnp.<U+0000><U+001B>[2J',
  )
  t.equal(await cellOf('family \u{1F468}\u200D\u{1F469}\n'), 'family \u{1F468}\u200D\u{1F469}\n')
  const cell = await cellOf('{"a":"\u202E"}', 'extra')
  t.equal(cell, String.raw`{""a"":""\u202e""}`)
})

t.test('a text of separators costs no more than others', async (t) => {
  const began = process.cpuUsage()
  for (const unit of ['\n', ' ', ', ', '\t'])
    t.equal((await cellOf(unit.repeat(50_000))).replace(/^'/, ''), unit.repeat(50_000))
  t.ok(process.cpuUsage(began).user < 5_000_000)
})

t.test('it begins with a byte order mark, without which Excel shows umlauts wrong', async (t) => {
  const reader = { query: () => Promise.resolve([]), lines: () => Promise.resolve([]) }
  const csv = await readFeedbackCsv(reader, {}, { from: 0, to: 1 })
  t.match(csv, /^\uFEFFtime,written,/)
})
