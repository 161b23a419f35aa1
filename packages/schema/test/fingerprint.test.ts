import t from 'tap'
import { lowest } from '@intake/test-kit/lowest'
import { insertRows, logRow, startServer, uuidV7 } from './fixture.ts'
import { stackTraces } from './stack-traces.ts'

const { connect } = await startServer(t)
const clickhouse = connect(t)

async function fingerprintsOf(texts: readonly string[]): Promise<(string | null)[]> {
  const rows = await clickhouse.query<{ fingerprint: string | null }>(
    'SELECT intake_fingerprint(arrayJoin({texts:Array(String)})) AS fingerprint',
    { texts },
  )
  return rows.map(({ fingerprint }) => fingerprint)
}

t.test('the same crash of two releases is one fingerprint, two crashes are two', async (t) => {
  t.ok(stackTraces.length >= 200, `${stackTraces.length} stack traces`)
  const found = await fingerprintsOf(stackTraces.map(({ text }) => text))
  const fingerprints = new Map<string, string | null | undefined>()
  for (const [at, { crash, text }] of stackTraces.entries()) {
    const fingerprint = found[at]
    t.match(fingerprint, /^[0-9a-f]{16}$/)
    t.equal(fingerprints.get(crash) ?? fingerprint, fingerprint, `one in all releases:\n${text}`)
    fingerprints.set(crash, fingerprint)
  }
  const crashes = [...fingerprints].filter(
    ([, one], at, all) => all.findIndex(([, other]) => other === one) !== at,
  )
  t.same(crashes, [], 'each crash has its own')
})

t.test('a text without frames counts without what varies', async (t) => {
  const [one, same, other] = await fingerprintsOf([
    "Order 17 of 'anna' failed: /var/mobile/A1/orders.json",
    "Order 4 of 'bo' failed: /tmp/orders.json",
    'Payment 4 failed',
  ])
  t.equal(same, one)
  t.not(other, one)
})

t.test('an absent text has none, and any other text has one', async (t) => {
  const [row] = await clickhouse.query(
    `SELECT intake_fingerprint(NULL) AS absent, length(intake_fingerprint('')) AS empty,
       length(intake_fingerprint(repeat('at a.b(C.java:1)\n', 100000))) AS long`,
  )
  t.same(row, { absent: null, empty: 16, long: 16 })
})

t.test('texts that clients make up take no longer than others', async (t) => {
  const pieces = [
    '(SourceFile address at ',
    '(Native Method',
    "'a@b ",
    '/a ',
    '-abcdefgh.a',
    'a.b/',
    '0x1 ',
    'a:',
  ]
  const measure = async (piece: string) => {
    const begun = performance.now()
    await clickhouse.query(
      `SELECT max(intake_fingerprint(materialize(repeat({piece:String}, intDiv(100000, length({piece:String})))))) AS found
       FROM numbers(10)`,
      { piece },
    )
    return performance.now() - begun
  }
  const usual = await measure('at a.b(c.js:1)\n')
  for (const piece of pieces) {
    const ms = await lowest(10 * usual, () => measure(piece))
    t.ok(ms < 10 * usual, piece)
  }
})

t.test('intake.crashes shows each crash once, from its first to its last version', async (t) => {
  const trace = (line: number) => `TypeError: x\n    at pay (https://a.example/app.js:${line}:1)`
  const crash = (minute: number, version_name: string, fields: object) => {
    const time = `2026-11-20T10:0${minute}:00.000Z`
    return logRow({
      time,
      id: uuidV7(time),
      event: 'crash',
      device: { version_name },
      ...fields,
    })
  }
  const rows = [
    crash(1, '1.10.0', { params: { stack: trace(5) }, sample_rate: 0.25 }),
    crash(2, '1.9.0', { params: { error: { name: 'TypeError', message: 'x', stack: trace(7) } } }),
    crash(3, '1.9.0', {
      params: {
        error: { name: 'TypeError', message: 'y', stack: 'pay@https://a.example/app.js:9:1' },
      },
    }),
    crash(4, '', { params: {} }),
    logRow({ params: { stack: trace(5) } }),
  ]
  for (const _ of [1, 2]) await insertRows(clickhouse, 'logs', rows)
  const found = await clickhouse.query(
    `SELECT example, first_version, last_version, devices, events, new_since,
       fingerprint = intake_fingerprint(example) AS is_same
     FROM intake.crashes WHERE bundle_identifier = 'com.example.app' ORDER BY new_since`,
  )
  const at = (minute: number) => `2026-11-20 10:0${minute}:00.000`
  t.same(found, [
    {
      example: 'TypeError: y\npay@https://a.example/app.js:9:1',
      is_same: 1,
      first_version: '1.9.0',
      last_version: '1.10.0',
      devices: 3,
      events: 6,
      new_since: at(1),
    },
    {
      example: '',
      is_same: 1,
      first_version: '',
      last_version: '',
      devices: 1,
      events: 1,
      new_since: at(4),
    },
  ])
})
