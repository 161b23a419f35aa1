import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createDataDir } from '@intake/test-kit/data-dir'
import t from 'tap'
import { readRows, type SourceRow } from '../src/import/read-rows.ts'

const folder = createDataDir(t)
async function read(format: 'json' | 'csv', text: string | Buffer, name = 'file') {
  const path = join(folder, name)
  writeFileSync(path, text)
  const rows: SourceRow[] = []
  for await (const row of readRows(path, format)) rows.push(row)
  return rows
}

t.test('a line ends at LF or CRLF, not at another separator of Unicode', async (t) => {
  const texts = ['{"a":"\u2028\u2029\u0085"}', '{"b":1}', '{"c":2}']
  const rows = await read('json', `${texts[0]}\r\n\n${texts[1]}\n${texts[2]}`)
  t.strictSame(
    rows.map(({ line, text }) => [line, text]),
    [
      [1, texts[0]],
      [3, texts[1]],
      [4, texts[2]],
    ],
  )
  // A chunk of a file has 65,536 bytes, and each of these ends between CR and LF.
  const lines = Array.from({ length: 9 }, (_, n) => 'x'.repeat(n === 0 ? 65_535 : 65_534))
  const long = await read('json', lines.map((line) => `${line}\r\n`).join(''))
  t.strictSame(
    long.map(({ text }) => text),
    lines,
  )
})

t.test('rows have the same lines and texts, which ids follow from, in any form', async (t) => {
  const lines = ['n,note', '1,"a\rb"', '', '2,"c\nd"', `3,${'x'.repeat(70_000)}`, '4,\u{1F984}']
  const plain = await read('csv', lines.join('\n'))
  t.strictSame(
    plain.map(({ line }) => line),
    [2, 4, 6, 7],
  )
  const file = `\uFEFF${lines.join('\r\n')}\r\n`.replace('"c\nd"', '"c\r\nd"')
  for (const other of [await read('csv', file), await read('csv', gzipSync(file), 'a.gz')]) {
    const idsOf = (rows: SourceRow[]) => rows.map(({ line, text }) => [line, text])
    t.strictSame(idsOf(other), idsOf(plain))
  }
})

t.test('spaces around a name in the header do not belong to it', async (t) => {
  const [row] = await read('csv', 'id , total,"note" , note\n1, 2,a,b\n')
  t.match(row, { header: ['id', 'total', 'note', 'note'], cells: ['1', ' 2', 'a', 'b'] })
})

t.test('a line may be longer than a chunk, and a character may lie on two', async (t) => {
  const lines = Array.from({ length: 9 }, (_, n) => '🦄'.repeat(n * 20_000 + 1))
  const text = lines.join('\n')
  for (const [name, bytes] of [
    ['plain', text],
    ['packed.gz', gzipSync(text)],
  ] as const) {
    const rows = await read('json', bytes, name)
    t.ok(rows.every((row, n) => row.text === lines[n]) && rows.length === lines.length)
    t.equal(rows.at(-1)?.share, 1)
  }
})

t.test('a byte order mark does not belong to the first column or object', async (t) => {
  t.match(await read('csv', '\uFEFF"id","note"\n1,a\n'), [{ header: ['id', 'note'] }])
  t.match(await read('json', '\uFEFF{}\n'), [{ text: '{}' }])
})

t.test('a record ends with its line, whatever quotes are in its last cells', async (t) => {
  t.match(await read('csv', 'a,b,c\n"x\ny",5" z,\n1,2,\n"x\n"" y\n",2,"3"\n'), [
    { line: 2, cells: ['x\ny', '5" z', ''] },
    { line: 4, cells: ['1', '2', ''] },
    { line: 5, cells: ['x\n" y\n', '2', '3'] },
  ])
})

t.test('quotes that are not those of a whole cell are kept', async (t) => {
  t.match(await read('csv', 'a,b,c\n"x"y,"z" ,3\n"1","2",3\n'), [
    { cells: ['"x"y', '"z" ', '3'] },
    { cells: ['1', '2', '3'] },
  ])
})

t.test('a cell of many lines is read in the time of one line', async (t) => {
  const cells = ['\n', 'a\n', '""\n'].map((line) => line.repeat(100_000))
  const lines = cells.map((cell) => `"x${cell}",1`)
  const began = process.cpuUsage()
  const rows = await read('csv', `a,b\n${lines.join('\n')}\n`)
  t.ok(process.cpuUsage(began).user < 5_000_000)
  t.ok(rows.every(({ text }, n) => text === lines[n]) && rows.length === lines.length)
  const unquoted = cells.map((cell) => [`x${cell.replaceAll('""', '"')}`, '1'])
  for (const [n, row] of rows.entries()) t.same(row.cells, unquoted[n])
})

t.test('a file that cannot be read, or decompressed, is an error', async (t) => {
  await t.rejects(read('json', 'no gzip', 'broken.gz'), { code: 'Z_DATA_ERROR' })
  await t.rejects(read('json', gzipSync('{}\n{}\n').subarray(0, -9), 'cut.gz'))
  const latin = { code: 'ERR_ENCODING_INVALID_ENCODED_DATA' }
  await t.rejects(read('csv', Buffer.from('a\ngr\u00fcn\n', 'latin1')), latin)
  await t.rejects(read('csv', 'a,b\n1,"2\n'), /Quote Not Closed.* at line 2/)
  const long = `a\n"${`${'b'.repeat(600_000)}\n`.repeat(2)}"\n`
  await t.rejects(read('csv', long), /Max Record Size.* at line 3/)
})

t.test('a line without an end stops the import before it fills the memory', async (t) => {
  const endless = `{}\n${'a'.repeat(20 * 1024 * 1024)}`
  for (const format of ['json', 'csv'] as const) {
    const reading = read(format, gzipSync(endless), 'endless.gz')
    await t.rejects(reading, /Max Record Size.* at line 2/)
  }
})
