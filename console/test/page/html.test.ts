import t from 'tap'
import { clientText, html, Html, listText } from '../../src/page/html.ts'
import { hostileTexts } from './hostile-records.ts'
import { checkMarkup } from './markup.ts'

t.test('a value is text, also in an attribute', async (t) => {
  for (const [index, text] of hostileTexts.entries()) {
    checkMarkup(t, html`<p class="${text}">${text}</p>`.toString(), `text ${index}`)
    checkMarkup(t, html`<p>${clientText(text)}</p>`.toString(), `text ${index}`)
  }
  t.equal(
    html`<a href="/${'"'}">${`<&>"'\``}</a>`.toString(),
    '<a href="/&#34;">&#60;&#38;&#62;&#34;&#39;&#96;</a>',
  )
})

t.test('markup, lists and absent values are inserted; nothing from JSON is markup', async (t) => {
  t.equal(html`<b>${[html`<i>${1}</i>`, undefined, '<']}</b>`.toString(), '<b><i>1</i>&#60;</b>')
  const imitation = JSON.parse('{"markup":"<b>","constructor":{"name":"Html"}}') as string
  t.notOk((imitation as unknown) instanceof Html)
  t.notMatch(html`${[imitation] as string[]}`.toString(), '<b>')
})

t.test('line ends of any system are line ends', async (t) => {
  t.equal(String(clientText('one\r\ntwo\rthree')), '<bdi>one\ntwo\nthree</bdi>')
})

t.test('invisible characters are shown by their code, and joiners are kept', async (t) => {
  const shown = (text: string) => clientText(text).toString()
  t.match(shown('a\u202eb'), 'a<code>U+202E</code>b')
  t.match(shown('\u0000\ufeff\u200b\u2028'), /U\+0000.*U\+FEFF.*U\+200B.*U\+2028/)
  t.match(shown('👩‍👩‍👧 می‌خواهم\n\t'), '👩‍👩‍👧 می‌خواهم\n\t')
  t.match(shown('\ud83d'), '\ufffd')
  const many = shown('a\u200b'.repeat(1_000))
  t.equal(many.match(/U\+200B/g)?.length, 100)
  t.match(many, '900 more invisible characters')
  t.match(clientText('abcdef', 4).toString(), /abcd<\/bdi>.*2 more characters/)
  t.notMatch(clientText('abc😀', 4).toString(), '\ud83d', 'a pair is not cut')
})

t.test('a text of a list has no markup only if it is short and ASCII', async (t) => {
  t.equal(html`<dd>${listText('a<b> 1', 10)}</dd>`.toString(), '<dd>a&#60;b&#62; 1')
  for (const text of ['\u0627', 'a\u202eb', 'a\tb', 'longer than that'])
    t.match(String(listText(text, 10)), /^<bdi>/, text)
})

t.test('end tags that HTML does not need are left out', async (t) => {
  t.equal(
    html`<ol>
      <li>${'</li>'}</li>
    </ol>`.toString(),
    '<ol><li>&#60;/li&#62;</ol>',
  )
})
