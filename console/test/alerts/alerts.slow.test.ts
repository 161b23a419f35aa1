import t from 'tap'
import type { Alert } from '@intake/access'
import {
  atTime,
  insertRows,
  logRow,
  startServer,
  withSettings,
} from '../../../packages/schema/test/fixture.ts'
import { createAlertRun } from '../../src/alerts/alerts.ts'
import { readLastChanges } from '../../src/alerts/changes.ts'
import type { Situation } from '../../src/alerts/evaluate.ts'

const { server, connect } = await startServer(t)
const owner = connect(t)
const reader = connect(t, { url: server.readerUrl })
const store = connect(t, { url: server.workerUrl })

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** Evaluations are at times of the test's own, a little in the future, so that states are valid. */
const start = Math.ceil(Date.now() / minuteMs) * minuteMs
const bundle = 'com.example.app'
let ids = 0

const alert = (fields: Partial<Alert>): Alert => ({
  id: `alert_${String(++ids).padStart(12, '0')}`,
  bundle,
  event: 'crash',
  versionName: '',
  condition: 'above',
  threshold: 10,
  unit: 'events',
  minutes: 10,
  createdAt: new Date(start).toISOString(),
  createdBy: 'test',
  ...fields,
})

const newCrashIn = (application: string) =>
  alert({ bundle: application, event: '', condition: 'new-crash', threshold: 0, minutes: 60 })

async function insert(
  count: number,
  atMs: number,
  { event = 'crash', ...fields }: { event?: string; [field: string]: unknown } = {},
): Promise<void> {
  const rows = Array.from({ length: count }, () =>
    logRow({ ...atTime(atMs), bundle_identifier: bundle, event, ...fields }),
  )
  await insertRows(store, 'logs', rows)
}

/**
 * Evaluates once, as a console that has just started: it remembers nothing.
 *
 * @param options.behindMs how far the watermark is behind; default: as far as it is while all is well
 * @param options.killedBefore the message that the console does not announce any more
 * @returns the ids of the messages about these alerts
 */
async function evaluate(
  alerts: Alert[],
  nowMs: number,
  options: Partial<Situation> & {
    behindMs?: number
    killedBefore?: string
  } = {},
): Promise<string[]> {
  const { behindMs = 15_000, killedBefore, ...given } = options
  const told: string[] = []
  const run = createAlertRun({
    alerts: { list: async () => alerts },
    reader,
    store,
    sink: {
      async add(deliveries) {
        const messages = deliveries.map(({ id }) => id)
        if (messages.some((id) => id === killedBefore)) throw new Error('killed')
        told.push(...messages)
        return 0
      },
    },
    situation: async () => ({
      nowMs,
      visibleUntilMs: nowMs - behindMs,
      refusedKeys: [],
      ...given,
    }),
    onError(error) {
      throw error
    },
  })
  await run()
  return told.filter((id) => alerts.some((one) => id.startsWith(`${one.id}-`))).toSorted()
}

const statesOf = async (...alerts: Alert[]) => {
  const rows = await reader.query<{ id: string; state: string }>(
    'SELECT id, state FROM intake.alert_states',
  )
  return alerts.map(({ id }) => rows.find((row) => row.id === id)?.state)
}

t.test('one message when it fires, one when it is over, samples by their rate', async (t) => {
  const above = alert({ event: 'spike' })
  await insert(1, start - minuteMs, { event: 'spike', sample_rate: 0.1 })
  t.same(await evaluate([above], start), [])
  t.same(await statesOf(above), ['ok'], 'ten are not more than ten')
  await insert(1, start, { event: 'spike' })
  const firing = `${above.id}-2`
  t.same(await evaluate([above], start + minuteMs), [firing])
  t.same(await statesOf(above), ['firing'])
  t.same(await evaluate([above], start + 2 * minuteMs), [firing], 'the queue knows it')
  const over = start + 20 * minuteMs
  t.same(await evaluate([above], over), [firing, `${above.id}-3`])
  t.same(await statesOf(above), ['ok'])
  const changes = await owner.query(
    `SELECT change, state, value, is_message FROM intake.alert_changes WHERE id = '${above.id}' ORDER BY change`,
  )
  t.same(changes, [
    { change: 1, state: 'ok', value: 10, is_message: 0 },
    { change: 2, state: 'firing', value: 11, is_message: 1 },
    { change: 3, state: 'ok', value: 0, is_message: 1 },
  ])
  t.same(await evaluate([above], over + 91 * minuteMs), [], 'the queue may have forgotten them')
  await evaluate([], over + 92 * minuteMs)
  t.same(await statesOf(above), [undefined], 'a removed alert has no state')
})

t.test('imported events neither fire an alert nor end a silence', async (t) => {
  const above = alert({ event: 'imported' })
  const silence = alert({ event: 'imported', condition: 'below', threshold: 1 })
  const crash = newCrashIn('com.example.imported')
  const imported = { api_key_id: 'import' }
  await insert(20, start - minuteMs, { ...imported, event: 'imported' })
  await insert(1, start - minuteMs, { ...imported, bundle_identifier: crash.bundle })
  await evaluate([above, silence, crash], start)
  t.same(await statesOf(above, silence, crash), ['ok', 'firing', 'ok'])
  await insert(1, start, { bundle_identifier: crash.bundle })
  await evaluate([crash], start + minuteMs)
  t.same(await statesOf(crash), ['ok'], 'an imported crash is known')
  await insert(1, start, { bundle_identifier: crash.bundle, params: { stack: 'at other(a.js:1)' } })
  await evaluate([crash], start + 2 * minuteMs)
  t.same(await statesOf(crash), ['firing'])
})

t.test('while records are behind there is neither silence nor recovery', async (t) => {
  const silence = alert({ event: 'opened', condition: 'below', threshold: 1 })
  const spike = alert({ event: 'failed' })
  await insert(1, start - minuteMs, { event: 'opened' })
  await insert(11, start - minuteMs, { event: 'failed' })
  t.same(await evaluate([silence, spike], start), [`${spike.id}-1`])
  t.same(await statesOf(silence, spike), ['ok', 'firing'])
  for (const behind of [3, 30, 60]) {
    const now = start + behind * minuteMs
    const told = await evaluate([silence, spike], now, { behindMs: behind * minuteMs })
    t.same(told, behind === 60 ? [] : [`${spike.id}-1`], 'no other message')
    const expected = behind === 3 ? ['ok', 'firing'] : ['unknown', 'unknown']
    t.same(await statesOf(silence, spike), expected, `${behind} minutes`)
  }
  const unknown = start + 62 * minuteMs
  await evaluate([silence, spike], unknown, { visibleUntilMs: undefined })
  t.same(await statesOf(silence, spike), ['unknown', 'unknown'], 'without a watermark')
  // All of the backlog is visible: the events had come all the time.
  await insert(1, start + 60 * minuteMs, { event: 'opened' })
  await insert(11, start + 60 * minuteMs, { event: 'failed' })
  const caughtUp = start + 64 * minuteMs
  t.same(await evaluate([silence, spike], caughtUp), [], 'it was never over')
  t.same(await statesOf(silence, spike), ['ok', 'firing'])
  t.same(
    await evaluate([silence, spike], start + 90 * minuteMs, { refusedKeys: ['key-1'] }),
    [`${spike.id}-4`],
    'a recovery that is one',
  )
  t.same(await statesOf(silence, spike), ['unknown', 'ok'], 'gateways have refused events')
  const ofOthers = { refusedKeys: ['key-2'] }
  const silent = await evaluate([silence, spike], start + 92 * minuteMs, ofOthers)
  t.match(silent.join(), `${silence.id}-`, 'although a key of another application was refused')
})

t.test('a spike is told although records are behind', async (t) => {
  const above = alert({ event: 'burst' })
  await insert(11, start, { event: 'burst' })
  const now = start + minuteMs
  t.same(await evaluate([above], now, { behindMs: 60 * minuteMs }), [`${above.id}-1`])
})

t.test('a console that is killed before it announces leaves the message to the next', async (t) => {
  const above = alert({ event: 'fatal' })
  await insert(11, start, { event: 'fatal' })
  await t.rejects(evaluate([above], start + minuteMs, { killedBefore: `${above.id}-1` }), {
    message: 'killed',
  })
  t.same(await statesOf(above), ['firing'], 'the state was stored')
  t.same(await evaluate([above], start + minuteMs + 1_000), [`${above.id}-1`])
  const [one, other] = await Promise.all([
    evaluate([above], start + 30 * minuteMs),
    evaluate([above], start + 30 * minuteMs),
  ])
  t.same(one, [`${above.id}-1`, `${above.id}-2`])
  t.same(other, one, 'two consoles announce the same messages')
})

t.test('what fails is late only if there are alerts', async (t) => {
  const run = (alerts: Alert[]) =>
    createAlertRun({
      alerts: { list: async () => alerts },
      reader,
      store,
      sink: { add: async () => 0 },
      situation: () => Promise.reject(new Error('ClickHouse is away')),
      onError: () => {},
    })()
  await run([])
  await t.rejects(run([alert({})]), { message: 'ClickHouse is away' })
})

t.test('a state that nobody evaluates becomes unknown', async (t) => {
  const above = alert({ event: 'old' })
  await evaluate([above], Date.now() - 60 * minuteMs)
  t.same(await statesOf(above), ['unknown'])
})

t.test('a value that is not known is not the one before', async (t) => {
  await owner.insertSelect(
    `INSERT INTO intake.alerts_raw (id, change, value) VALUES ('alert_null', 1, 7), ('alert_null', 2, NULL)`,
  )
  const sql = `SELECT value FROM intake.alert_states WHERE id = 'alert_null'`
  t.same(await owner.query(sql), [{ value: null }])
})

t.test('times: the median of the same time of former days', async (t) => {
  const [often, unsure] = [
    alert({ event: 'usual', condition: 'times', threshold: 3, minutes: 60 }),
    alert({ bundle: 'com.new', event: 'usual', condition: 'times', threshold: 3, minutes: 60 }),
  ]
  const now = start + 15_000
  for (let day = 1; day <= 4; day++) {
    const at = now - 30 * minuteMs - day * dayMs
    await insert(day === 2 ? 500 : 10, at, { event: 'usual' })
    await insert(500, at - 60 * minuteMs, { event: 'usual' })
  }
  await insert(25, now - 30 * minuteMs, { event: 'usual' })
  await insert(25, now - 30 * minuteMs, { event: 'usual', bundle_identifier: 'com.new' })
  await evaluate([often, unsure], now)
  t.same(await statesOf(often, unsure), ['ok', 'unknown'])
  await insert(30, now - 30 * minuteMs, { event: 'usual' })
  t.same(await evaluate([often, unsure], now + minuteMs), [`${often.id}-2`])
})

t.test('a version, and a share of the devices', async (t) => {
  const version = alert({ event: 'slow', versionName: '2.0' })
  const share = alert({ event: 'slow', unit: 'percent', threshold: 20 })
  const shareOfVersion = alert({ ...share, id: 'alert_00000000a001', versionName: '2.0' })
  const at = start - minuteMs
  const application = { bundle_identifier: 'com.shares' }
  const all = [version, share, shareOfVersion].map((one) => ({ ...one, bundle: 'com.shares' }))
  await insert(30, at, { ...application, event: 'slow', device: { version_name: '1.0' } })
  await insert(5, at, { ...application, event: 'slow', device: { version_name: '2.0' } })
  await insert(200, at, { ...application, event: 'other', device: { version_name: '1.0' } })
  await evaluate(all, start)
  t.same(await statesOf(...all), ['ok', 'ok', 'firing'])
  const values = await owner.query(
    `SELECT round(value, 1) AS value FROM intake.alert_states WHERE bundle_identifier = 'com.shares' ORDER BY id`,
  )
  t.same(values, [{ value: 5 }, { value: 14.9 }, { value: 100 }])
})

t.test('a crash with a new stack trace, and not one that was known', async (t) => {
  const stack = (where: string) =>
    `java.lang.IllegalStateException: no ${where}\n\tat com.example.${where}.run(${where}.kt:12)`
  const crash = (where: string) => ({
    bundle_identifier: 'com.crashes',
    params: { stack: stack(where) },
  })
  const news = newCrashIn('com.crashes')
  await insert(1, start - 3 * dayMs, crash('Known'))
  await insert(5, start - minuteMs, crash('Known'))
  t.same(await evaluate([news], start), [])
  t.same(await statesOf(news), ['ok'])
  await insert(1, start + minuteMs, crash('Other'))
  t.same(await evaluate([news], start + 2 * minuteMs), [`${news.id}-2`])
  await insert(9, start + 80 * minuteMs, crash('Other'))
  t.same(await evaluate([news], start + 90 * minuteMs), [`${news.id}-2`, `${news.id}-3`])
})

t.test('two hundred alerts of twenty applications', async (t) => {
  const many = Array.from({ length: 200 }, (_, n) =>
    alert({ bundle: `com.many.${n % 20}`, event: `event ${n}`, minutes: 1 + (n % 5) }),
  )
  await evaluate(many, start)
  t.same(new Set(await statesOf(...many)), new Set(['ok']))
})

t.test('a long history of changes needs little memory', async (t) => {
  await owner.insertSelect(
    `INSERT INTO intake.alerts_raw (id, change, bundle_identifier, event, since, evaluated_at)
     SELECT concat('alert_old', toString(number % 20)), intDiv(number, 20), 'com.long', toString(number), 1, 1
     FROM numbers(200_000)`,
  )
  const url = withSettings(server.readerUrl, { max_memory_usage: '32000000' })
  const last = await readLastChanges(connect(t, { url }))
  t.match(last.get('alert_old7'), { change: '9999', event: '199987' })
})
