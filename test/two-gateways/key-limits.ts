import t from 'tap'
import { postLog } from '@intake/test-kit/post'
import { until } from '@intake/test-kit/until'
import { cluster, intake } from './cluster.ts'

interface Answer {
  status: number
  code: string | undefined
  retryAfter: number
}

/** Runs a command of `intake keys`, and returns what it prints. */
async function keys(...args: string[]) {
  const { code, stdout, stderr } = await intake(['keys', ...args, '--json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as { id: string; key: string; state: string }
}

async function send(url: string, key: string): Promise<Answer> {
  const response = await postLog({ url, apiKey: key }, { event: 'tap' })
  const { code } = (await response.json()) as { code?: string }
  const retryAfter = Number(response.headers.get('retry-after'))
  return { status: response.status, code, retryAfter }
}

/**
 * Waits until both gateways respond with this status. Resolves to the time that this took, in
 * milliseconds.
 */
async function untilBoth(key: string, status: number): Promise<number> {
  const from = performance.now()
  for (const url of cluster.gatewayUrls) {
    await until(`${url} answers ${status}`, async () => (await send(url, key)).status === status)
  }
  return performance.now() - from
}

const secondsToMidnight = () => (86_400_000 - (Date.now() % 86_400_000)) / 1_000

t.test('a suspended key is refused by all gateways within five seconds, and resumed', async (t) => {
  const { id, key } = await keys('create', '--name', 'fleet')
  await untilBoth(key, 201)
  t.match(await keys('suspend', id), { state: 'suspended' })
  const suspendedMs = await untilBoth(key, 403)
  t.ok(suspendedMs < 5_000, `${Math.round(suspendedMs)} ms`)
  for (const url of cluster.gatewayUrls) t.match(await send(url, key), { code: 'key_suspended' })
  t.match(await keys('resume', id), { state: 'active' })
  const resumedMs = await untilBoth(key, 201)
  t.ok(resumedMs < 5_000, `${Math.round(resumedMs)} ms`)
})

t.test('a budget is one for all gateways, and reported before it is spent', async (t) => {
  const budget = 100
  const daily = ['--events-per-day', String(budget)]
  const { id, key } = await keys('create', '--name', 'budget', ...daily)
  const [first, second] = cluster.gatewayUrls as [string, string]
  await untilBoth(key, 201)
  let accepted = 2
  let answer = await send(first, key)
  for (; answer.status === 201; answer = await send(first, key)) accepted++
  t.match(answer, { status: 429, code: 'budget_exhausted' })
  t.ok(Math.abs(answer.retryAfter - secondsToMidnight()) < 30, `${answer.retryAfter} s`)
  // The second gateway has served only one request of this key. It learns about the other requests
  // through Redis.
  const from = performance.now()
  await until('the other gateway refuses', async () => {
    const { status } = await send(second, key)
    if (status === 201) accepted++
    return status === 429
  })
  const ms = performance.now() - from
  t.ok(ms < 5_000, `${Math.round(ms)} ms`)
  t.ok(accepted >= budget && accepted <= budget * 1.1, `${accepted} of ${budget}`)
  for (const gateway of cluster.gateways) {
    await until('it is reported', async () => {
      const status = await fetch(`${gateway.adminUrl()}/status`)
      return new RegExp(`${id} has used 1\\d\\d % of its events`).test(await status.text())
    })
  }
  await keys('set', id, '--events-per-day', String(2 * budget))
  t.ok((await untilBoth(key, 201)) < 5_000, 'a higher budget acts at once, too')
})
