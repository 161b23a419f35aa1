import { createClickHouse } from '@intake/clickhouse'
import { exec, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { loopbackOrigins } from '@intake/config'

import type { Endpoints } from '@intake/runtime/endpoints'
import { readConfig } from '../../src/stack/config.ts'
import { inSessionsOf } from '@intake/test-kit/sessions'
import { createDataDir } from '@intake/test-kit/data-dir'
import { noForeignListener, startForeignListener } from '@intake/test-kit/foreign-listener'
import { startStopwatch } from '@intake/test-kit/stopwatch'
import { until } from '@intake/test-kit/until'
import { postLog } from '@intake/test-kit/post'
import { launchStack, readEndpoints, ready } from '@intake/test-kit/running-stack'

/** A second loopback address. It reaches only servers that listen on every address. */
const otherAddress = '127.0.0.2'
function pidsOf({ pids }: Endpoints) {
  const all = [pids.redis, pids.clickhouse, pids.s3, pids.gateway, ...pids.workers, pids.console]
  return all.filter((pid) => pid !== null)
}

t.test('npm start, from the first start to the last stop', async (t) => {
  const { PORT: preset } = readConfig({})
  // Any program may have it already.
  await occupy(t, preset).catch(() => undefined)
  const dataDir = `${createDataDir(t)}/it's data`
  const first = launchStack(t, dataDir, {
    INTAKE_API_KEY: 'a key with "quotes" & $igns',
    PORT: '',
    WORKERS: '2',
    PAGE_PASSWORD: 'not in the file',
    RATE_LIMIT_MAX: '5000',
    HOST: '0.0.0.0',
    ADMIN_HOST: '0.0.0.0',
  })
  await first.untilSaid(ready)
  const endpoints = readEndpoints(dataDir)

  await t.test('endpoints.json gives its owner all addresses and pids', async (t) => {
    // Not readdirSync, which throws when a merge of ClickHouse removes a folder meanwhile.
    const paths = spawnSync('find', [dataDir], { encoding: 'utf8' }).stdout.trimEnd().split('\n')
    t.ok(paths.length > 100, `${paths.length} paths`)
    const open = paths.filter(
      (path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
    )
    t.same(open, [], 'no other user can read anything')
    t.equal(statSync(dataDir).mode & 0o777, 0o700)
    t.equal(endpoints.apiKey, 'a key with "quotes" & $igns')
    const { redis, clickhouse, s3 } = endpoints
    const ports = [redis, clickhouse, s3].map((url) => new URL(url).port)
    t.same(endpoints.settings, {
      RATE_LIMIT_MAX: '5000',
      OWN_PORTS: ports.join(','),
      CORS_ORIGINS: loopbackOrigins,
    })
    t.equal(endpoints.pids.workers.length, 2)
    for (const pid of pidsOf(endpoints)) t.ok(process.kill(pid, 0))
    for (const url of [endpoints.gatewayAdmin, endpoints.workerAdmin, endpoints.page]) {
      const response = await fetch(`${url}/readyz`)
      t.equal(response.status, 200)
    }
  })

  await t.test(
    'a default port in use gives way to a free one, and the output says so',
    async (t) => {
      const { port } = new URL(endpoints.gateway)
      t.not(Number(port), preset)
      const said = `Port ${preset} for the gateway cannot be used, another process is using it: it is `
      t.match(first.output(), `${said}${port} this time.`)
    },
  )

  await t.test('nothing listens on other addresses, even with HOST=0.0.0.0', async (t) => {
    const { gateway, gatewayAdmin, workerAdmin, page, redis, clickhouse, s3 } = endpoints
    for (const url of [gateway, gatewayAdmin, workerAdmin ?? '', page, redis, clickhouse, s3]) {
      const socket = connect(Number(new URL(url).port), otherAddress)
      const connected = once(socket, 'connect').then(() => socket.destroy())
      await t.rejects(connected, { code: 'ECONNREFUSED' }, url)
    }
  })

  await t.test('pages of this machine may send, and no others', async (t) => {
    const statusOf = async (method: string, origin: string) => {
      const headers = { 'x-api-key': endpoints.apiKey, origin }
      return (await fetch(`${endpoints.gateway}/api/log`, { method, headers })).status
    }
    t.equal(await statusOf('OPTIONS', 'http://localhost:5173'), 204)
    t.equal(await statusOf('POST', 'http://localhost:5173'), 400, 'there is no event')
    t.equal(await statusOf('POST', 'https://app.example'), 403)
  })

  await t.test('every printed command works when pasted', async (t) => {
    const commands = first.output().match(/^curl .+$/gm) ?? []
    t.equal(commands.length, 4)
    const [log = '', batch = '', feedback = '', query = ''] = commands
    t.match((await promisify(exec)(log)).stdout, /"Log successfully created"/)
    const idsOf = async () => (await promisify(exec)(batch)).stdout.match(/(?<="id":")[^"]+/g)
    const ids = await idsOf()
    t.equal(ids?.length, 2)
    t.same(await idsOf(), ids, 'a retry returns the same records')
    t.match((await promisify(exec)(feedback)).stdout, /"Feedback successfully created".*"stored"/)
    await until('all are visible', async () => {
      const { stdout } = await promisify(exec)(query)
      const sent = ['screen_view', 'tap', 'purchase', 'The new screen is lovely.']
      return sent.every((text) => stdout.includes(text))
    })
  })

  await t.test('the printed query shows nothing that a terminal obeys', async (t) => {
    const [, , , query = ''] = first.output().match(/^curl .+$/gm) ?? []
    const hostile = 'A\u001b[2J\u009b2J\u202e\u2028\u0007\r\nZ'
    const gateway = { url: endpoints.gateway, apiKey: endpoints.apiKey }
    const record = { bundle_identifier: hostile, unique_user_id: hostile }
    const response = await postLog(gateway, { event: hostile }, { record })
    t.equal(response.status, 201, await response.text())
    const stdout = await until('it is visible', async () => {
      const shown = await promisify(exec)(query)
      return shown.stdout.includes('A [2J 2J') && shown.stdout
    })
    t.notMatch(stdout, /(?!\n)[\p{C}\p{Zl}\p{Zp}]/u)
    t.match(stdout, 'The new screen is lovely.')
  })

  await t.test('the printed link opens the page for queries', async (t) => {
    const [link] = /http:\S+\/play\/\S+/.exec(first.output()) ?? []
    // If ClickHouse cannot be confined, there is no user `analyst`, and therefore no link.
    const isConfined = !first.output().includes('has no user for analysts')
    t.equal(link !== undefined, isConfined)
    if (link === undefined) return
    t.match(await (await fetch(link)).text(), /<title>ClickHouse Query</)
  })

  await t.test('a second start on the same data is refused in one sentence', async (t) => {
    const second = launchStack(t, dataDir)
    t.strictSame(await second.exited, { code: 1, signal: null })
    t.match(second.output(), /^Intake is already running on .+\n$/)
    t.ok(existsSync(`${dataDir}/endpoints.json`), 'the first one is not affected')
  })

  await t.test('a process that dies is restarted, and endpoints.json is updated', async (t) => {
    const { redis, gateway } = endpoints.pids
    for (const pid of [redis, gateway]) process.kill(pid as number, 'SIGKILL')
    const later = await until('both are running again', () => {
      const { pids } = readEndpoints(dataDir)
      const isNew = (pid: number | null, old: number | null) => pid !== null && pid !== old
      return isNew(pids.redis, redis) && isNew(pids.gateway, gateway) && readEndpoints(dataDir)
    })
    t.strictSame({ ...later, pids: undefined }, { ...endpoints, pids: undefined })
    // These lines were printed before endpoints.json was written. But this process may read the
    // output later than the file, so the test waits for the lines.
    for (const name of ['Redis', 'Gateway'])
      await first.untilSaid(`\n${name} died (signal SIGKILL): restarting it.\n`)
    await until('it is ready', async () => (await fetch(`${endpoints.gatewayAdmin}/readyz`)).ok)
  })

  await t.test(
    'another user who takes the port of a dead engine is told no password',
    { skip: noForeignListener },
    async (t) => {
      const { redis, clickhouse } = endpoints
      const ports = [redis, clickhouse].map((url) => Number(new URL(url).port))
      const listener = await startForeignListener(t, ports)
      const died = readEndpoints(dataDir).pids
      for (const pid of [died.redis, died.clickhouse]) process.kill(pid as number, 'SIGKILL')
      for (const port of ports) await listener.untilClosed(10, port)
      t.equal(listener.received(), '')
      await listener.stop()
      for (const url of [endpoints.gatewayAdmin, endpoints.workerAdmin]) {
        await until('it works again', async () => (await fetch(`${url}/readyz`)).ok)
      }
    },
  )

  const pids = pidsOf(readEndpoints(dataDir))
  const portOf = (url: string) => new URL(url).port
  const samePorts = {
    PORT: portOf(endpoints.gateway),
    GATEWAY_ADMIN_PORT: portOf(endpoints.gatewayAdmin),
    WORKER_ADMIN_PORT: portOf(endpoints.workerAdmin ?? ''),
    CONSOLE_ADMIN_PORT: portOf(endpoints.page),
    REDIS_PORT: portOf(endpoints.redis),
    CLICKHOUSE_PORT: portOf(endpoints.clickhouse),
    S3_PORT: portOf(endpoints.s3),
  }

  await t.test('killed, it leaves no process, and the next start has the data', async (t) => {
    first.process.kill('SIGKILL')
    await first.exited // its exit also releases its lock
    const second = launchStack(t, dataDir, samePorts) // waits until the processes of `first` have ended
    await second.untilSaid(ready)
    await until('no process is left', async () => (await inSessionsOf(pids)).length === 0)
    const clickhouse = createClickHouse({ url: readEndpoints(dataDir).clickhouse })
    const rows = await clickhouse.query('SELECT count() AS count FROM intake.logs')
    await clickhouse.close()
    t.strictSame(rows, [{ count: 4 }])

    const last = pidsOf(readEndpoints(dataDir))
    const elapsedMs = startStopwatch(t, [second.process.pid ?? null, ...last])
    second.process.kill('SIGINT')
    second.process.kill('SIGINT') // Ctrl-C under npm arrives twice
    t.strictSame(await second.exited, { code: 0, signal: null })
    t.ok(elapsedMs() < 10_000)
    await until('nothing is left', async () => (await inSessionsOf(last)).length === 0)
    t.notOk(existsSync(`${dataDir}/endpoints.json`))
  })
})

t.test('SIGTERM during the start stops it with code 0', async (t) => {
  const dataDir = createDataDir(t)
  const starting = launchStack(t, dataDir)
  await starting.untilSaid('Starting Intake')
  starting.process.kill('SIGTERM')
  t.strictSame(await starting.exited, { code: 0, signal: null })
  t.notOk(existsSync(`${dataDir}/running`))
  const { stdout } = await promisify(exec)('ps -eo args=')
  t.strictSame(
    stdout.split('\n').filter((line) => line.includes(dataDir)),
    [],
  )
})

t.test('chosen ports that are in use are all reported, with their settings', async (t) => {
  const ports = await Promise.all([occupy(t), occupy(t)])
  const { exited, output } = launchStack(t, createDataDir(t), {
    PORT: String(ports[0]),
    GATEWAY_ADMIN_PORT: '4567',
    CONSOLE_ADMIN_PORT: '4567',
    S3_PORT: String(ports[1]),
  })
  t.strictSame(await exited, { code: 1, signal: null })
  t.strictSame(output().trimEnd().split('\n'), [
    `Port ${ports[0]} for the gateway cannot be used, another process is using it: set PORT to a free port.`,
    'Port 4567 for the page cannot be used, GATEWAY_ADMIN_PORT is 4567, too: set CONSOLE_ADMIN_PORT to a free port.',
    `Port ${ports[1]} for S3 cannot be used, another process is using it: set S3_PORT to a free port.`,
  ])
})

/** Listens on a port, or on any, until the end of the test. */
async function occupy(t: Test, wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, '::')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test('data without a format is refused in one sentence with instructions', async (t) => {
  const dataDir = createDataDir(t)
  mkdirSync(`${dataDir}/clickhouse`)
  const { exited, output } = launchStack(t, dataDir)
  t.strictSame(await exited, { code: 1, signal: null })
  t.match(output(), /^The folder .+ has data but no format\.json, .+ delete it, or set .+\.\n$/)
})

t.test('invalid settings are reported in one sentence, without their values', async (t) => {
  const env = { PORT: 'abc', REDIS_URL: 'secret' }
  const { exited, output, untilSaid } = launchStack(t, createDataDir(t), env)
  t.strictSame(await exited, { code: 1, signal: null })
  await t.rejects(untilSaid(ready), { message: /^it has ended:\nconfiguration: / })
  t.match(output(), /^configuration: .*PORT.*REDIS_URL.*\n$/)
  t.notMatch(output(), /abc|secret/)
})

t.test('a service that does not respond at its URL is reported in one sentence', async (t) => {
  const { exited, output } = launchStack(t, createDataDir(t), {
    CLICKHOUSE_URL: 'http://user:very-secret@127.0.0.1:9',
  })
  t.strictSame(await exited, { code: 1, signal: null })
  t.match(
    output(),
    /^Not started, because the environment names another: ClickHouse \(CLICKHOUSE_URL\)$/m,
  )
  t.match(output(), /^Updating the tables in ClickHouse failed: .+\.$/m)
  t.notMatch(output(), /very-secret/)
})
