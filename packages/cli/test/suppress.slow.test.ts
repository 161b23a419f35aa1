import t from 'tap'
import { createPolicyStore } from '@intake/access'
import { startServices, user } from './services.ts'

const { intake, keys } = await startServices(t)

// This test has a file of its own, because it waits 45 s for gateways, and then deletes the rows of
// all erasures.
t.test('--suppress puts the user on the list of gateways, unsuppress removes it', async (t) => {
  const suppressed = user()
  const erased = await intake(['user', 'erase', suppressed, '--suppress', '--yes', '--json'])
  t.equal(erased.code, 0, erased.stderr)
  t.match(JSON.parse(erased.stdout), { complete: true })
  t.equal((await createPolicyStore({ redis: keys }).load())!.suppressed.size, 1)
  t.match(await intake(['user', 'unsuppress', suppressed]), { code: 0 })
  t.match(await intake(['user', 'unsuppress', suppressed]), {
    code: 1,
    stderr: /is not suppressed/,
  })
})
