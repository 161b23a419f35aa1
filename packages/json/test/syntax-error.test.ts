import t from 'tap'
import { describeSyntaxError } from '../src/syntax-error.ts'

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
    ['[01]', 'line 1, column 3'],
    ['{"a":NaN}', 'line 1, column 6'],
    ['{"a":[1}', 'line 1, column 8'],
    ['{"a":1', 'it ends too early, at line 1, column 7'],
    ['{"a', 'it ends too early, at line 1, column 4'],
    ['\n', 'it ends too early, at line 2, column 1'],
  ] as const) {
    t.equal(describeSyntaxError(text), place, text)
  }
  t.equal(describeSyntaxError(`${' '.repeat(4 * 1024)}{`), undefined, 'too long')
})
