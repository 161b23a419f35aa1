import t from 'tap'
import { createAdmission } from '../../src/admission/admission.ts'
import { sendText } from '../forms.ts'
import { logBody, sendLog, soundState, startGateway } from '../support.ts'

const relaxed = { isStrict: false }

t.test('logs are refused from 75 % on and accepted again at 65 %; feedback later', async (t) => {
  let memoryUsed = 0
  const admission = createAdmission({ ...relaxed, state: () => ({ ...soundState, memoryUsed }) })
  const open = (kind: 'logs' | 'feedback') => {
    try {
      admission.requireCapacity(kind, 'key_1')
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

t.test('503 queue_full for the kinds of record for which a key is over its share', async (t) => {
  const over = { logs: new Set(['key_2']), feedback: new Set<string>() }
  const { app } = await startGateway(t, { overShare: over })
  const send = () => sendLog({ app })
  t.equal((await send()).statusCode, 201, 'another key is over')
  over.logs.add('key_1')
  const refused = await send()
  t.match(refused.json(), { status: 503, code: 'queue_full', detail: /share/ })
  t.ok(Number(refused.headers['retry-after']) >= 30)
  t.match((await sendText({ app }, 'broken')).json(), { code: 'invalid_multipart' })
  over.feedback.add('key_1')
  t.match((await sendText({ app }, 'broken')).json(), { code: 'queue_full' })
})

t.test('503 while Redis could lose accepted records, unless that is allowed', async (t) => {
  const durabilityViolations = ['Redis has appendfsync everysec, not always']
  const { app, state } = await startGateway(t, { queueState: { durabilityViolations } })
  const send = () => sendLog({ app })
  const refused = await send()
  t.match(refused.json(), { status: 503, code: 'queue_unavailable' })
  t.notMatch(refused.body, 'everysec')
  state.durabilityViolations = []
  t.equal((await send()).statusCode, 201)
  const admission = createAdmission({
    ...relaxed,
    state: () => ({ ...soundState, durabilityViolations }),
  })
  t.doesNotThrow(() => admission.checkQueue())
  t.same(admission.redisProblems(), { redis_could_lose_records: durabilityViolations[0] })
})

t.test('503, not 401, when Redis has lost its data and the API keys with it', async (t) => {
  const { app } = await startGateway(t, { queueState: { installation: null } })
  const response = await sendLog({ app }, logBody(), { 'x-api-key': 'forgotten' })
  t.match(response.json(), { status: 503, code: 'queue_unavailable' })
})

t.test('503 while Redis refuses writes, even if the rest of its state is fine', async (t) => {
  const writeRefusal = 'Redis is a replica'
  const { app, state } = await startGateway(t, { queueState: { writeRefusal } })
  const send = () => sendLog({ app })
  t.match((await send()).json(), { status: 503, code: 'queue_unavailable' })
  const admission = createAdmission({ ...relaxed, state: () => ({ ...soundState, writeRefusal }) })
  t.same(admission.redisProblems(), { redis_connection: writeRefusal })
  state.writeRefusal = undefined
  t.equal((await send()).statusCode, 201)
})

t.test('nothing is accepted while a shard of the queue has lost its data', async (t) => {
  let lost = [2, 3]
  const admission = createAdmission({ ...relaxed, state: () => soundState, lostShards: () => lost })
  t.throws(() => admission.checkQueue(), { code: 'queue_unavailable' })
  t.match(admission.redisProblems(), { redis_lost_its_data: /shards 2, 3/ })
  lost = []
  t.doesNotThrow(() => admission.checkQueue())
})
