import t from 'tap'
import { gather } from '../baselines/gather.ts'

t.test('rows of many callers are stored together, and no row twice', async (t) => {
  const stored: string[][] = []
  const add = gather({
    rowsMax: 3,
    lingerMs: 1,
    async store(lines) {
      stored.push(lines)
    },
  })
  await Promise.all([add(['a']), add(['b', 'c']), add(['d'])])
  t.same(stored, [['a', 'b', 'c'], ['d']])
})

t.test('every caller learns that its rows were not stored; later rows are stored', async (t) => {
  let fails = true
  const add = gather({
    rowsMax: Infinity,
    lingerMs: 1,
    async store() {
      if (fails) throw new Error('expected by the test')
    },
  })
  const results = await Promise.allSettled([add(['a']), add(['b'])])
  t.same(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  fails = false
  await add(['c'])
})
