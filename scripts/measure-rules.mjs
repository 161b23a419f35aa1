// Measures the CPU that applying compiled rules takes per event, in nanoseconds, for several sets
// of rules. Build first. docs/decisions/0028-rules-for-shipped-apps.md has the results.
import { randomUUID } from 'node:crypto'
import { applyEdits, compileRules } from '../packages/access/dist/index.js'

const rounds = 15
const eventsPerRound = 200_000
const bundle = 'com.example.app'
const secret = Buffer.from('a secret').toString('base64')

const rulesOf = (count, choose) =>
  Array.from({ length: count }, (_, n) => ({
    id: `rule_${String(n).padStart(12, '0')}`,
    createdAt: '2026-11-26T00:00:00.000Z',
    createdBy: 'measurement',
    ...choose(n),
  }))
const drop = (match) => ({ action: 'drop', match })

const sets = {
  'no rules': rulesOf(0),
  '100 rules for other applications': rulesOf(100, (n) => drop({ bundle: `com.other.${n}` })),
  '100 rules for other events of the application': rulesOf(100, (n) =>
    drop({ bundle, event: `other_event_${n}` }),
  ),
  '100 beginnings of other events': rulesOf(100, (n) =>
    drop({ bundle, eventPrefix: `screen_view_other_${n}` }),
  ),
  '100 rules for older versions': rulesOf(100, (n) => drop({ bundle, versionCodeBelow: n })),
  '100 rules of all kinds, none of which matches': rulesOf(100, (n) =>
    [
      drop({ bundle, event: `other_event_${n}`, os: 'iOS' }),
      drop({ eventPrefix: `screen_view_other_${n}` }),
      { action: 'sample', rate: 0.5, match: { bundle, versionCodeBelow: n } },
      { action: 'remove', path: 'params.email', match: { apiKeyId: `key_${n}` } },
      drop({ bundle, os: 'iOS', versionName: `1.${n}` }),
    ].at(n % 5),
  ),
  'one of them samples the event': rulesOf(100, (n) =>
    n === 50
      ? { action: 'sample', rate: 0.5, match: { bundle } }
      : drop({ bundle, versionCodeBelow: n }),
  ),
}

const events = Array.from({ length: 1_000 }, (_, n) => `screen_view_${n}`)
// Creates new requests, as the parser does. Each has an event name and a device of its own. A round
// uses each request 200 times.
const requests = () =>
  events.map((event) =>
    JSON.parse(
      JSON.stringify({
        event,
        sender: {
          bundle_identifier: bundle,
          device: { os: 'Android', version_code: 1_000, version_name: '1.4.2' },
          device_uuid: randomUUID(),
          unique_user_id: 'user-1',
        },
      }),
    ),
  )

/** @returns CPU per event in nanoseconds, the median of all rounds */
function measure(work) {
  const results = []
  for (let round = 0; round < rounds; round++) {
    const sent = requests()
    const before = process.cpuUsage()
    for (let n = 0; n < eventsPerRound; n += sent.length) for (const one of sent) work(one)
    const { user, system } = process.cpuUsage(before)
    results.push(((user + system) * 1_000) / eventsPerRound)
  }
  return results.toSorted((a, b) => a - b)[rounds >> 1]
}

let judged = 0
const baseline = measure(({ event, sender }) => {
  judged += event.length + sender.device_uuid.length
})
for (const [name, rules] of Object.entries(sets)) {
  const compiled = compileRules({ rules, secret })
  const single = measure(({ event, sender }) => {
    if (compiled.forSender('logs', 'key_1', sender)?.judge(event) !== undefined) judged++
  })
  let ofBatch
  const inBatch = measure(({ event, sender }) => {
    if (event === 'screen_view_0') ofBatch = compiled.forSender('logs', 'key_1', sender)
    if (ofBatch?.judge(event) !== undefined) judged++
  })
  const [alone, batched] = [single, inBatch].map((ns) => Math.max(0, ns - baseline).toFixed(0))
  console.log(`${name}: ${alone} ns alone, ${batched} ns in a batch`)
}
const hashing = compileRules({
  rules: rulesOf(1, () => ({ action: 'hash', path: 'params.phone', match: {} })),
  secret,
})
const hashed = measure(({ event, sender }) => {
  const ruling = hashing.forSender('logs', 'key_1', sender).judge(event)
  if (applyEdits({ phone: event, screen: 'home' }, 'params', ruling).phone !== event) judged++
})
console.log(`a hash of a param: ${(hashed - baseline).toFixed(0)} ns`)
if (judged === 0) throw new Error('nothing was measured')
