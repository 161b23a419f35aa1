import t from 'tap'
import { plural } from '../src/plural.ts'

t.test('a count of one has the singular', async (t) => {
  const counts = [0, 1, 2]
  t.same(
    counts.map((count) => `${count} ${plural(count, 'row')}`),
    ['0 rows', '1 row', '2 rows'],
  )
  t.same(
    counts.map((count) => plural(count, 'row waits', 'rows wait')),
    ['rows wait', 'row waits', 'rows wait'],
  )
})
