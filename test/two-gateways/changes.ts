import t from 'tap'
import { createCpuWait } from '@intake/test-kit/cpu-wait'
import { postLog } from '@intake/test-kit/post'
import { until } from '@intake/test-kit/until'
import { cluster, intake } from './cluster.ts'

const followMs = 5_000

const cpuWaitMs = createCpuWait(() => [process.pid, ...cluster.gateways.map((one) => one.pid())])

/** The time that this work takes, without the time in which it waits for a processor. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now() - cpuWaitMs()
  await work()
  return performance.now() - cpuWaitMs() - began
}

/** Runs a command of `intake`, and reads what it prints. */
async function run<Printed>(...args: string[]): Promise<Printed> {
  const { code, stdout, stderr } = await intake([...args, '--json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Printed
}

/** The matches of each rule, as each gateway shows them. */
const shown = (): Promise<Map<string, number>[]> =>
  Promise.all(
    cluster.gateways.map(async (gateway) => {
      const status = (await (await fetch(`${gateway.adminUrl()}/status`)).json()) as {
        rules: { id: string; matches: number }[]
      }
      return new Map(status.rules.map(({ id, matches }) => [id, matches]))
    }),
  )
const untilFollowed = (ids: string[]) =>
  until('both gateways follow the rules', async () => {
    const all = await shown()
    return all.every((one) => one.size === ids.length && ids.every((id) => one.has(id)))
  })

async function send(url: string, apiKey: string) {
  const response = await postLog({ url, apiKey }, { event: 'never' })
  const { code } = (await response.json()) as { code?: string }
  return { status: response.status, code }
}

t.test('two gateways follow a new rule, and its removal, within five seconds', async (t) => {
  const { id } = await run<{ id: string }>('rules', 'add', 'drop', '--event', 'never')
  const addedMs = await timed(() => untilFollowed([id]))
  for (const url of cluster.gatewayUrls) {
    t.match(await send(url, cluster.apiKey), { status: 201 })
  }
  const found = (await shown()).map((one) => one.get(id))
  t.same(found, [1, 1], 'both follow it')
  await run('rules', 'remove', id)
  const removedMs = await timed(() => untilFollowed([]))
  t.ok(addedMs < followMs, `followed after ${addedMs} ms`)
  t.ok(removedMs < followMs, `forgotten after ${removedMs} ms`)
  t.equal((await cluster.keys.keys('*:logs:*wait*')).length, 0, 'nothing was enqueued')
})

t.test('a suspended key is refused by all gateways within five seconds, and resumed', async (t) => {
  const create = ['keys', 'create', '--name', 'fleet']
  const { id, key } = await run<{ id: string; key: string }>(...create)
  const untilBoth = async (status: number) => {
    for (const url of cluster.gatewayUrls) {
      await until(`${url} answers ${status}`, async () => (await send(url, key)).status === status)
    }
  }
  await untilBoth(201)
  t.match(await run('keys', 'suspend', id), { state: 'suspended' })
  const suspendedMs = await timed(() => untilBoth(403))
  t.ok(suspendedMs < followMs, `${suspendedMs} ms`)
  for (const url of cluster.gatewayUrls) t.match(await send(url, key), { code: 'key_suspended' })
  t.match(await run('keys', 'resume', id), { state: 'active' })
  const resumedMs = await timed(() => untilBoth(201))
  t.ok(resumedMs < followMs, `${resumedMs} ms`)
})
