import t from 'tap'
import { parseOrigin } from '../src/origins.ts'

t.test('an origin is read in the form in which browsers send it', async (t) => {
  for (const [text, origin] of [
    ['HTTPS://App.Example:443', 'https://app.example'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['capacitor://localhost', 'capacitor://localhost'],
  ] as const) {
    t.equal(parseOrigin(text), origin)
  }
})

t.test('what no browser sends is no origin: patterns, blanks, paths, users', async (t) => {
  for (const text of [
    'https://*.example.com',
    '*',
    'null',
    'https://a.example/',
    'https://user@a.example',
    'https:app.example',
    'https://a.exa\tmple',
    ' https://a.example',
    'app.example',
  ]) {
    t.equal(parseOrigin(text), undefined, JSON.stringify(text))
  }
})
