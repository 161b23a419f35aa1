import t from 'tap'
import { requireSoundParser } from '../src/json.ts'

t.test('the parser of this Node is sound', async (t) => {
  t.doesNotThrow(requireSoundParser)
})

t.test('a parser that confuses keys is refused', async (t) => {
  t.intercept(JSON, 'parse', { value: () => ({ first: 1, '\\': 2 }) })
  t.throws(requireSoundParser, { name: 'ConfigError', message: /#63785.*Use Node 20 or 22/ })
})
