import t from 'tap'
import { problemOf } from '../src/settings.ts'

t.test('a wrong setting is a problem; a fault of this program is none', async (t) => {
  const wrong = () => {
    throw new RangeError('PORT is wrong')
  }
  t.same(
    problemOf(() => undefined),
    [],
  )
  t.same(problemOf(wrong), ['PORT is wrong'])
  const fault = new TypeError('not a function')
  const read = () => {
    throw fault
  }
  t.throws(() => problemOf(read), fault)
})
