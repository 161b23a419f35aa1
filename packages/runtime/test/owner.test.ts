import t from 'tap'
import { createOwner } from '../src/owner.ts'

t.test('all is ended once, the last one first, even if an end rejects or throws', async (t) => {
  const errors: unknown[] = []
  const ended: string[] = []
  const owner = createOwner((error) => errors.push((error as Error).message))
  owner.add(() => ended.push('first'))
  owner.add(() => Promise.reject(new Error('rejected')))
  owner.add(async () => {
    await Promise.resolve()
    ended.push('second')
  })
  owner.add(() => {
    throw new Error('thrown')
  })
  owner.add(() => ended.push('third'))
  await Promise.all([owner.end(), owner.end()])
  t.same(ended, ['third', 'second', 'first'])
  t.same(errors, ['thrown', 'rejected'])
})

t.test('a part that it owns is closed in its turn', async (t) => {
  const ended: string[] = []
  const owner = createOwner((error) => t.fail(error as Error))
  owner.add(() => ended.push('first'))
  const part = { close: () => ended.push('part') }
  t.equal(owner.own(part), part)
  owner.add(() => ended.push('last'))
  await owner.end()
  t.same(ended, ['last', 'part', 'first'])
})

t.test('what starts while everything ends, or after that, is ended too', async (t) => {
  const ended: string[] = []
  const owner = createOwner((error) => t.fail(error as Error))
  owner.add(async () => {
    owner.add(() => ended.push('meanwhile'))
    await Promise.resolve()
  })
  await owner.end()
  owner.add(() => ended.push('later'))
  t.same(ended, ['meanwhile', 'later'])
})
