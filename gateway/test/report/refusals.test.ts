import t from 'tap'
import { IntakeError, type ErrorCode } from '@intake/contract'
import { createLogger, createMetrics } from '@intake/runtime/process'
import { createGatewayMetrics } from '../../src/report/metrics.ts'
import { createRefusals } from '../../src/report/refusals.ts'

function setUp({ isClosing = false } = {}) {
  const lines: Record<string, unknown>[] = []
  let onLine = () => {}
  const written = () => new Promise<void>((resolve) => (onLine = resolve))
  const registry = createMetrics()
  const noted: string[] = []
  const refusals = createRefusals({
    metrics: createGatewayMetrics(registry),
    problems: { note: (code) => void noted.push(code) },
    log: createLogger({
      name: 'gateway',
      level: 'info',
      destination: {
        write(line) {
          lines.push(JSON.parse(line))
          onLine()
        },
      },
    }),
    isClosing: () => isClosing,
  })
  const note = (code: ErrorCode, requestId: string, apiKeyId?: string) =>
    refusals.note({
      error: new IntakeError(code, 'Detail.'),
      requestId,
      apiKeyId,
      kind: 'logs',
      records: 2,
    })
  return { refusals, lines, noted, registry, note, written }
}

t.test('one line per code and API key, with a count and one request id', async (t) => {
  const { refusals, lines, noted, registry, note } = setUp()
  note('unauthorized', 'r1')
  note('unauthorized', 'r2')
  note('invalid_json', 'r3', 'a')
  note('invalid_json', 'r4', 'b')
  note('busy', 'r5', 'a')
  refusals.close()
  t.match(lines, [
    { level: 30, code: 'unauthorized', apiKeyId: 'none', requestId: 'r1', count: 2 },
    { level: 30, code: 'invalid_json', apiKeyId: 'a', requestId: 'r3', count: 1 },
    { level: 30, code: 'invalid_json', apiKeyId: 'b', requestId: 'r4', count: 1 },
    { level: 40, code: 'busy', apiKeyId: 'a', requestId: 'r5', count: 1, err: Object },
  ])
  const text = await registry.metrics()
  t.match(text, 'intake_requests_refused_total{code="unauthorized"} 2')
  t.match(text, 'intake_records_shed_total{kind="logs",code="busy"} 2')
  t.notMatch(text, /records_shed_total.*unauthorized/)
  t.same(noted, ['overloaded'])
})

t.test('a gateway that refuses because it is closing is not overloaded', async (t) => {
  const { refusals, noted, note } = setUp({ isClosing: true })
  note('busy', 'r1')
  refusals.close()
  t.same(noted, [])
})

t.test('a line is written after a pause, and the next refusal starts a new one', async (t) => {
  const { lines, note, written } = setUp()
  for (const requestId of ['r1', 'r2']) {
    const line = written()
    note('unauthorized', requestId)
    await line
  }
  t.match(lines, [{ requestId: 'r1' }, { requestId: 'r2' }])
})

t.test('API keys beyond the limit share a line', async (t) => {
  const { refusals, lines, note } = setUp()
  for (let n = 0; n < 5_000; n++) note('busy', `r${n}`, `key_${n}`)
  refusals.close()
  t.equal(lines.length, 1_001)
  t.match(lines.at(-1), { apiKeyId: 'several', count: 4_000 })
})

t.test('rejected entries: one line per API key and code, with a count', async (t) => {
  const { refusals, lines, registry } = setUp()
  const reject = (requestId: string, apiKeyId: string, ...codes: ErrorCode[]) =>
    refusals.noteEntries({
      errors: codes.map((code) => new IntakeError(code, 'Detail.')),
      requestId,
      apiKeyId,
    })
  reject('r1', 'a', 'invalid_request', 'duplicate_id', 'invalid_request')
  reject('r2', 'a', 'duplicate_id', 'invalid_request')
  reject('r3', 'a', 'invalid_request')
  reject('r4', 'b', 'invalid_request')
  refusals.close()
  const msg = 'batch entries rejected'
  t.match(lines, [
    { level: 30, msg, code: 'invalid_request', apiKeyId: 'a', requestId: 'r1', count: 4 },
    { level: 30, msg, code: 'duplicate_id', apiKeyId: 'a', requestId: 'r1', count: 2 },
    { level: 30, msg, code: 'invalid_request', apiKeyId: 'b', requestId: 'r4', count: 1 },
  ])
  t.equal(lines.length, 3)
  t.match(await registry.metrics(), 'intake_batch_entries_rejected_total{code="invalid_request"} 5')
})
