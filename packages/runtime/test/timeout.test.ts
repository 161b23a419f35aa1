import t from 'tap'
import { TimeoutError, withTimeout } from '../src/deadline.ts'

t.test('settles like the work if the work settles in time', async (t) => {
  t.equal(await withTimeout(Promise.resolve(1), 1_000, 'it'), 1)
  await t.rejects(withTimeout(Promise.reject(new Error('no')), 1_000, 'it'), { message: 'no' })
})

t.test(
  'rejects after the timeout; a later failure of the work is not an unhandled rejection',
  async (t) => {
    let fail: (error: Error) => void = () => {}
    const work = new Promise((_, reject) => (fail = reject))
    await t.rejects(withTimeout(work, 1, 'it'), TimeoutError)
    fail(new Error('late'))
  },
)
