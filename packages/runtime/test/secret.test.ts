import t from 'tap'
import { createSecret } from '../src/secret.ts'

t.test('a listener that throws does not stop the others', async (t) => {
  const secret = createSecret('one')
  const seen: string[] = []
  secret.onChange(() => {
    throw new Error('first')
  })
  secret.onChange(() => seen.push(secret.current()))
  t.throws(() => secret.set('two'), { message: 'first' })
  t.same(seen, ['two'])
})

t.test('the same value is no change, and a listener that ended is not called', async (t) => {
  const secret = createSecret('one')
  let changes = 0
  const end = secret.onChange(() => changes++)
  secret.set('one')
  secret.set('two')
  end()
  secret.set('three')
  t.equal(changes, 1)
})
