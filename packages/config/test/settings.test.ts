import t from 'tap'
import { findRedisUrlProblems, problemOf } from '../src/settings.ts'

t.test('a wrong setting is a problem; a fault of this program is none', async (t) => {
  t.same(findRedisUrlProblems('redis://host'), [])
  t.match(findRedisUrlProblems('redis+cluster://one,,two'), [/^REDIS_URL must have a host/])
  const fault = new TypeError('not a function')
  const read = () => {
    throw fault
  }
  t.throws(() => problemOf(read), fault)
})
