import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { createCpuWait } from '@intake/test-kit/cpu-wait'
import { postLog } from '@intake/test-kit/post'
import { until } from '@intake/test-kit/until'
import { backlogOf, outcomeFramesLeft } from '../faults/kit/observe.ts'
import { cluster, env, intake } from './cluster.ts'

const followMs = 5_000

const cpuWaitMs = createCpuWait(() => [process.pid, ...cluster.gateways.map((one) => one.pid())])

/** Runs `intake rules`, and reads what it prints. */
async function rules<Printed>(...args: string[]): Promise<Printed> {
  const { code, stdout, stderr } = await intake(['rules', ...args, '--json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Printed
}
const add = (...args: string[]) => rules<{ id: string }>('add', ...args)

/** The matches of each rule, as each gateway shows them. */
async function shown(): Promise<Map<string, number>[]> {
  return Promise.all(
    cluster.gateways.map(async (gateway) => {
      const status = (await (await fetch(`${gateway.adminUrl()}/status`)).json()) as {
        rules: { id: string; matches: number }[]
      }
      return new Map(status.rules.map(({ id, matches }) => [id, matches]))
    }),
  )
}
const matches = async (id: string) =>
  (await shown()).reduce((sum, rules_) => sum + (rules_.get(id) ?? 0), 0)
const untilFollowed = (ids: string[]) =>
  until('both gateways follow the rules', async () => {
    const all = await shown()
    return all.every((one) => one.size === ids.length && ids.every((id) => one.has(id)))
  })

/** An event of a fleet: 40 devices with three versions. Half of them send an e-mail address. */
function eventOf(n: number) {
  const device = n % 40
  return {
    bundle_identifier: 'com.example.fleet',
    device: { os: device % 2 === 0 ? 'Android' : 'iOS', version_code: 40 + (device % 3) },
    device_uuid: `bd9c40f6-2f4f-4b8a-9d3b-${String(device * 7_919).padStart(12, '0')}`,
    unique_user_id: `user-${device}`,
    log: {
      event: ['debug_tick', 'scroll', 'purchase'][Math.floor(n / 40) % 3],
      params: {
        n,
        ...(device % 2 === 0 && { email: `${device}@example.com`, phone: `49${device}` }),
      },
    },
  }
}
/** How often the fleet sends its 600 events. With `ROUNDS=1500` this takes about ten minutes. */
const rounds = Number(process.env['ROUNDS'] ?? 1)
const fleetSize = 600 * rounds

async function send(url: string, { log, ...record }: ReturnType<typeof eventOf>): Promise<void> {
  const response = await postLog({ url, apiKey: cluster.apiKey }, log, { record })
  await response.arrayBuffer()
  if (response.status !== 201) throw new Error(`status ${response.status}`)
}
async function sendFleet(): Promise<void> {
  for (let n = 0; n < fleetSize; n += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        send(cluster.gatewayUrls[(n + at) % 2]!, eventOf(n + at)),
      ),
    )
  }
}
const untilDrained = () =>
  until(
    'everything is stored',
    async () => {
      const { waiting, active, delayed } = await backlogOf(cluster.keys)
      return waiting + active + delayed === 0
    },
    { progress: async () => (await backlogOf(cluster.keys)).waiting },
  )

async function count(condition: string): Promise<number> {
  const [row] = await cluster.sql.query<{ n: number }>(
    `SELECT count() AS n FROM intake.logs WHERE ${condition}`,
  )
  return row!.n
}

t.test('two gateways follow a new rule, and its removal, within five seconds', async (t) => {
  const timed = async (work: () => Promise<unknown>) => {
    const began = performance.now() - cpuWaitMs()
    await work()
    return performance.now() - cpuWaitMs() - began
  }
  const { id } = await add('drop', '--event', 'never')
  const addedMs = await timed(() => untilFollowed([id]))
  await Promise.all(
    cluster.gatewayUrls.map((url) =>
      send(url, { ...eventOf(0), log: { event: 'never', params: { n: 0 } } }),
    ),
  )
  const found = (await shown()).map((one) => one.get(id))
  t.same(found, [1, 1], 'both follow it')
  await rules('remove', id)
  const removedMs = await timed(() => untilFollowed([]))
  t.comment(`followed after ${Math.round(addedMs)} ms, forgotten after ${Math.round(removedMs)} ms`)
  t.ok(addedMs < followMs, `${addedMs} ms`)
  t.ok(removedMs < followMs, `${removedMs} ms`)
  t.equal((await cluster.keys.keys('*:logs:*wait*')).length, 0, 'nothing was enqueued')
})

interface Met {
  records: number
  devices: number
  not_stored: number
  by_version: { version_code: number; records: number; devices: number; not_stored: number }[]
}

t.test('a dry run says what each action then does, and the books balance', async (t) => {
  await sendFleet()
  await untilDrained()
  const fleet = ['--bundle', 'com.example.fleet']
  const choices: Record<string, string[]> = {
    drop: ['drop', ...fleet, '--event-prefix', 'debug_', '--version-code-below', '42'],
    sample: ['sample', '0.3', ...fleet, '--event', 'scroll'],
    remove: ['remove', 'params.email', ...fleet, '--event', 'purchase', '--os', 'android'],
    hash: ['hash', 'params.phone', ...fleet, '--event', 'purchase', '--version-code-from', '41'],
  }
  const expected = new Map<string, Met>()
  for (const [action, args] of Object.entries(choices)) {
    expected.set(action, await rules<Met>('add', ...args, '--dry-run'))
  }
  t.same(await rules('list'), [], 'a dry run adds nothing')
  for (const [action, met] of expected) {
    t.ok(met.records > 0 && met.devices > 0, `${action}: ${JSON.stringify(met)}`)
    const sum = met.by_version.reduce((total, { records }) => total + records, 0)
    t.equal(sum, met.records, `${action} by version`)
  }
  t.match(
    expected
      .get('drop')!
      .by_version.map(({ version_code }) => version_code)
      .toSorted((a, b) => a - b),
    [40, 41],
  )

  const ids = new Map<string, string>()
  for (const [action, args] of Object.entries(choices)) ids.set(action, (await add(...args)).id)
  await untilFollowed([...ids.values()])
  const before = { logs: await count('true'), at: new Date() }
  await sendFleet()
  await untilDrained()
  for (const [action, met] of expected) {
    t.equal(await matches(ids.get(action)!), met.records, `the rule to ${action}`)
  }
  const stored = (await count('true')) - before.logs
  const leftOut = expected.get('drop')!.not_stored + expected.get('sample')!.not_stored
  t.equal(stored, fleetSize - leftOut, 'stored is what the dry runs leave')

  const since = `received_at >= '${before.at.toISOString().slice(0, 23).replace('T', ' ')}'`
  const phone = createHmac('sha256', Buffer.from(await secret(), 'base64'))
    .update('494')
    .digest('hex')
  t.equal(await count(`params.phone.:String = '${phone.slice(0, 32)}' AND ${since}`), 5 * rounds)
  t.equal(
    await count(
      `event = 'purchase' AND device.os = 'Android' AND params.email.:String IS NOT NULL AND ${since}`,
    ),
    0,
  )
  const [sampled] = await cluster.sql.query(
    `SELECT round(sum(1 / sample_rate)) AS estimated, min(sample_rate) AS rate,
       count() / uniqExact(device_uuid) AS each
     FROM intake.logs WHERE event = 'scroll' AND ${since}`,
  )
  const met = expected.get('sample')!
  t.match(sampled, { rate: 0.3, each: met.records / met.devices }, 'a device is kept as a whole')

  const books = await until('the outcomes have arrived', async () => {
    if ((await outcomeFramesLeft(cluster.keys)) > 0) return false
    const found = await cluster.sql.query<{ code: string; rule: string; records: number }>(
      `SELECT code, rule, sum(records) AS records FROM intake.outcomes
       WHERE code IN ('accepted', 'dropped', 'sampled') GROUP BY ALL ORDER BY ALL`,
    )
    const sum = found.reduce((total, { records }) => total + records, 0)
    return sum === 2 * fleetSize + 2 ? found : false
  })
  t.same(
    books.filter(({ rule }) => [...ids.values()].includes(rule)),
    [
      { code: 'dropped', rule: ids.get('drop'), records: expected.get('drop')!.not_stored },
      { code: 'sampled', rule: ids.get('sample'), records: met.not_stored },
    ],
  )
  t.match(books[0], { code: 'accepted', rule: '', records: fleetSize + stored })

  const journal = await cluster.sql.query<{ action: string; subject: string; who: string }>(
    "SELECT action, subject, who FROM intake.journal FINAL WHERE startsWith(action, 'rule-') ORDER BY at",
  )
  const actions = journal.map(({ action }) => action)
  t.same(actions, ['rule-added', 'rule-removed', ...Object.keys(choices).map(() => 'rule-added')])
  t.ok(journal.every(({ who }) => who.includes('@')))
})

const secret = async () => (await cluster.keys.hget('{intake}:rules', 'secret')) ?? ''

t.test('a test of a record from standard input follows the rules in force', async (t) => {
  const main = fileURLToPath(new URL('../../tools/cli/dist/main.js', import.meta.url))
  const testing = promisify(execFile)(process.execPath, [main, 'rules', 'test', '--json'], {
    env: { ...process.env, ...env },
  })
  const params = { email: 'a', n: 1 }
  testing.child.stdin?.end(JSON.stringify({ ...eventOf(0), log: { event: 'purchase', params } }))
  const tested = JSON.parse((await testing).stdout) as { records: { params: object }[] }
  t.match(tested, { status: 201, accepted: 1 })
  t.same(tested.records[0]?.params, { n: 1 }, 'one rule removes the address')
})
