import t from 'tap'
import { filterWord, isTypable, printTerm, withTyped } from '../../src/page/filter-words.ts'

const typed = (filter: string, kind: 'logs' | 'feedback' = 'logs', rest = '') =>
  withTyped(new URLSearchParams([...new URLSearchParams(rest), ['filter', filter]]), kind)

t.test('a filter has the words of intake tail, and adds to the search', async (t) => {
  t.equal(
    typed('event:crash version:3.5.0 params.screen:"the cart" bundle:com.example.shop key:key_1'),
    'event=crash&version=3.5.0&params.screen=the+cart&app=com.example.shop&key=key_1',
  )
  t.equal(typed('version:2', 'logs', 'event=crash&version=1'), 'event=crash&version=2')
  t.equal(
    typed('params.url:https://x.example/a?b=1'),
    'params.url=https%3A%2F%2Fx.example%2Fa%3Fb%3D1',
  )
  t.equal(withTyped(new URLSearchParams('event=crash'), 'logs'), undefined, 'nothing was typed')
  t.equal(
    typed('', 'logs', 'event=crash&after=x'),
    'event=crash',
    'a new search begins at its start',
  )
})

t.test('what has no word is an event, a device or a text', async (t) => {
  t.equal(typed('add to cart'), 'event=add+to+cart')
  const device = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10'
  t.equal(typed(device), `device=${device}`)
  t.equal(typed(`user:${device}`), `user=${device}`)
  t.equal(typed('the button: too small', 'feedback'), 'text=the+button%3A+too+small')
  t.equal(typed('has:pictures extra.category:idea', 'feedback'), 'has=pictures&extra.category=idea')
})

t.test('400 for a word that is not known, with those that are', async (t) => {
  t.throws(() => typed('evnt:crash'), {
    statusCode: 400,
    message: /words bundle, event, version, user, device, key, .* event:crash/,
  })
})

t.test('a condition is typed as it is printed', async (t) => {
  for (const [word, value] of [
    ['event', 'crash'],
    ['user', 'Ann Lee'],
    ['event', 'tapped: buy'],
  ] as const) {
    t.ok(isTypable(value))
    t.equal(typed(printTerm(word, value)), new URLSearchParams({ [word]: value }).toString())
  }
  t.equal(filterWord('app'), 'bundle')
  t.equal(filterWord('period'), undefined)
})

t.test('a name that cannot be seen or typed is not suggested', async (t) => {
  for (const name of [
    '',
    ' a',
    'a\n',
    'a"b',
    '"',
    '"a',
    'a\nb',
    'a\u202Eb',
    '\u0000',
    'x'.repeat(301),
  ])
    t.notOk(isTypable(name), JSON.stringify(name))
})
