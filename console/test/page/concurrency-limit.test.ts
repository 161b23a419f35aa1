import t from 'tap'
import { createConcurrencyLimit } from '../../src/page/concurrency-limit.ts'

t.test('work that throws at once rejects, and its turn ends', async (t) => {
  const limit = createConcurrencyLimit({ atOnce: 1, waitingMax: 1 })
  let close = () => {}
  const raw = { closed: false, once: (_: string, listener: () => void) => (close = listener) }
  const failing = limit.run({ raw: raw as never }, () => {
    throw new Error('at once')
  })
  await t.rejects(failing, { message: 'at once' })
  close()
  t.equal(await limit.run({ raw: raw as never }, async () => 'next'), 'next')
})
