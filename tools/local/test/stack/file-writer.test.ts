import t from 'tap'

import { createWriter } from '../../src/stack/file-writer.ts'

t.test('a failing write is repeated until it succeeds, and reported once', async (t) => {
  const timers = t.capture(globalThis, 'setTimeout', () => 1)
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  const errors: unknown[] = []
  let room = false
  let written = 0
  const writer = createWriter({
    write() {
      if (!room) throw full
      written++
    },
    onError: (error) => errors.push(error),
  })
  writer.write()
  const attempt = () => {
    const [next] = timers.args().at(-1) as unknown as [() => void]
    next()
  }
  attempt()
  attempt()
  t.same([errors, written], [[full], 0])
  room = true
  attempt()
  t.equal(written, 1)
  room = false
  writer.write()
  t.equal(errors.length, 2, 'a later failure is reported again')
  writer.stop()
})
