import t from 'tap'
import { describeSyntaxError, findSyntaxError } from '../../src/body/syntax-error.ts'

t.test('it says where a document stops to be JSON', async (t) => {
  for (const [text, place] of [
    ['{"a":1,}', 'line 1, column 8'],
    ['{"a":1,\n  "b":tru}', 'line 2, column 7'],
    ['[1,\r\n\r\n]', 'line 3, column 1'],
    ["{'a':1}", 'line 1, column 2'],
    ['{"a" 1}', 'line 1, column 6'],
    ['{"a":1 "b":2}', 'line 1, column 8'],
    ['{"a":1} x', 'line 1, column 9'],
    ['{"a":"b\nc"}', 'line 1, column 8'],
    [String.raw`["\x"]`, 'line 1, column 3'],
    ['[01]', 'line 1, column 2'],
    ['{"a":NaN}', 'line 1, column 6'],
    ['{"a":[1}', 'line 1, column 8'],
    ['{"a":1', 'it ends too early, at line 1, column 7'],
    ['{"a', 'it ends too early, at line 1, column 4'],
    ['\n', 'it ends too early, at line 2, column 1'],
  ] as const) {
    t.equal(describeSyntaxError(text), place, text)
  }
  t.equal(describeSyntaxError(`${' '.repeat(16 * 1024)}{`), undefined, 'too long')
})

t.test('it finds an error exactly when JSON.parse does', async (t) => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const sample = String.raw` {"a":[1,-0.5e+3,true,null,{}],"b\u00e9\n":{"c":"","d":[]}} `
  const characters = [...Array.from(`{}[]:,"\\0-+.eEu tfn\n\u0000é`), '']
  let differing = 0
  for (let at = 0; at <= sample.length; at++) {
    for (const character of characters) {
      for (const removed of [0, 1, 7]) {
        const text = sample.slice(0, at) + character + sample.slice(at + removed)
        if ((findSyntaxError(text) === undefined) !== isJson(text)) {
          differing++
          t.fail(text)
        }
      }
    }
  }
  t.equal(differing, 0)
})
