import t from 'tap'
import { createAdmission } from '../src/admission.ts'
import { headers, logBody, secret, startGateway } from './support.ts'

const sound = { hazards: [], memoryUsed: 0, memoryBytesMax: 1, installation: 'x' }

t.test('logs are refused from 75 % on and taken again at 65 %, feedback later', async (t) => {
  let memoryUsed = 0
  const admission = createAdmission({ state: () => ({ ...sound, memoryUsed }), strict: true })
  const open = (kind: 'logs' | 'feedback') => {
    try {
      admission.checkRoom(kind)
      return true
    } catch (error) {
      t.match(error, { code: 'queue_full' })
      return false
    }
  }
  const steps: [number, boolean, boolean][] = [
    [0.74, true, true],
    [0.75, false, true],
    [0.7, false, true],
    [0.86, false, false],
    [0.8, false, false],
    [0.74, false, true],
    [0.64, true, true],
    [0.7, true, true],
  ]
  for (const [used, logs, feedback] of steps) {
    memoryUsed = used
    t.same([open('logs'), open('feedback')], [logs, feedback], `at ${used}`)
  }
})

t.test('503 queue_full before the body is looked at, for logs and not for feedback', async (t) => {
  const { app } = await startGateway(t, { queueState: { memoryUsed: 0.8 } })
  const log = await app.inject({ method: 'POST', url: '/api/log', headers, payload: '{"broken' })
  t.match(log.json(), { status: 503, code: 'queue_full' })
  const feedback = await app.inject({
    method: 'POST',
    url: '/api/feedback',
    headers: { 'x-api-key': secret, 'content-type': 'multipart/form-data; boundary=x' },
    payload: 'broken',
  })
  t.match(feedback.json(), { status: 400, code: 'invalid_multipart' })
})

t.test(
  '503 to everybody while Redis could lose what it confirms, unless that is allowed',
  async (t) => {
    const hazards = ['Redis has appendfsync everysec, not always']
    const { app, state } = await startGateway(t, { queueState: { hazards } })
    const send = () => app.inject({ method: 'POST', url: '/api/log', headers, payload: logBody() })
    const refused = await send()
    t.match(refused.json(), { status: 503, code: 'queue_unavailable' })
    t.notMatch(refused.body, 'everysec')
    state.hazards = []
    t.equal((await send()).statusCode, 201)
    const relaxed = createAdmission({ state: () => ({ ...sound, hazards }), strict: false })
    t.equal(relaxed.refusal(), undefined)
  },
)

t.test('503, not 401, when Redis has lost its data and the API keys with it', async (t) => {
  const { app } = await startGateway(t, { queueState: { installation: null } })
  const response = await app.inject({
    method: 'POST',
    url: '/api/log',
    headers: { ...headers, 'x-api-key': 'forgotten' },
    payload: logBody(),
  })
  t.match(response.json(), { status: 503, code: 'queue_unavailable' })
})
