import t from 'tap'
import { createIntake } from '../../src/web/index.ts'

t.test('on a server that renders the page, the client of the page does not throw', async (t) => {
  const client = createIntake({
    url: '/i',
    apiKey: 'ik_test',
    bundleIdentifier: 'com.example.shop',
  })
  t.type(client.log('view'), 'string')
  t.same(await client.shutdown({ timeoutMs: 0 }), { left: 1 })
})
