import t from 'tap'
import { readFeedbackCsv } from '../../src/page/feedback-csv.ts'

/** The cell of a feedback with this text. */
async function cellOf(text: string): Promise<string> {
  const reader = {
    query: async <Row>() => [{ text_: text }] as Row[],
    lines: async () => [],
  }
  const csv = await readFeedbackCsv(reader, {}, { from: 0, to: 1 })
  const [, cell = ''] =
    /^(?:"",){9}"([^]*)"(?:,""){3}\r\n$/.exec(csv.slice(csv.indexOf('\n') + 1)) ?? []
  return cell
}

t.test('no text of a client is a formula, wherever a spreadsheet begins a cell', async (t) => {
  const texts: Record<string, string> = {
    '=1+1': "'=1+1",
    '\n=1+1': "\n'=1+1",
    'a\r\n @x': "a\r\n' @x",
    'a;=HYPERLINK("x")': `a;'=HYPERLINK(""x"")`,
    'a,"=1': `a,'""=1`,
    '\uFF1D1': "'\uFF1D1",
    '\uFEFF=1': "'\uFEFF=1",
    '  \u200B+1': "'  \u200B+1",
    '\u0000-1': "'\u0000-1",
    '\tx': "'\tx",
    'a = b, c - d': 'a = b, c - d',
  }
  for (const [text, cell] of Object.entries(texts)) t.equal(await cellOf(text), cell, text)
})

t.test('a text of separators costs no more than others', async (t) => {
  const began = performance.now()
  for (const unit of ['\n', ' ', ', ', '\t'])
    t.equal((await cellOf(unit.repeat(50_000))).replace(/^'/, ''), unit.repeat(50_000))
  t.ok(performance.now() - began < 5_000)
})
