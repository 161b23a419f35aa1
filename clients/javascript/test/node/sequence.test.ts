import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openSequence } from '../../src/node/sequence.ts'

t.test('numbers that another client gives back are used by the next', async (t) => {
  const dir = createDataDir(t)
  const [one, other] = [openSequence(dir), openSequence(dir)]
  t.equal(one.reserve(3), 1)
  t.equal(other.reserve(2), 4)
  one.takeBack(1, 3)
  other.takeBack(4, 2)
  t.equal(one.reserve(1), 4, 'there is no gap')
  t.equal(other.reserve(1), 5)
})

t.test('numbers of two clients that both are given back are used again', async (t) => {
  const dir = createDataDir(t)
  const [one, other] = [openSequence(dir), openSequence(dir)]
  t.equal(other.reserve(2), 1)
  t.equal(one.reserve(1), 3)
  one.takeBack(3, 1)
  other.takeBack(1, 2)
  t.equal(one.reserve(1), 1)
  rmSync(join(dir, 'sequence'))
  t.equal(one.reserve(1), 2, 'a client does not repeat its numbers if the file is gone')
})
