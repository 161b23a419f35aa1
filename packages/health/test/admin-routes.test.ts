import fastify from 'fastify'
import t from 'tap'
import { addGauge, Registry } from '@intake/runtime/process'
import { adminRoutes } from '../src/index.ts'

t.test('requests for the metrics at the same time share one rendering', async (t) => {
  const metrics = new Registry()
  let renderings = 0
  addGauge(metrics, {
    name: 'test_renderings',
    help: 'Counts renderings.',
    read: () => [[{}, ++renderings]],
  })
  const problems = { present: () => [] }
  const app = fastify()
  await app.register(
    adminRoutes({ service: 'worker', problems, facts: () => ({ facts: 1 }), metrics }),
  )
  const responses = await Promise.all([1, 2, 3].map(() => app.inject('/metrics')))
  t.ok(responses.every(({ body }) => body.includes('test_renderings 1')))
  t.match((await app.inject('/status')).json(), { service: 'worker', facts: 1 })
  t.equal((await app.inject('/scaling')).statusCode, 404, 'not without numbers')
})
