import { request } from 'node:http'
import t, { type Test } from 'tap'
import { migrate, repairViews } from '@intake/schema'
import { helpOf, type ProblemCode } from '@intake/health/problem-catalogue'
import { serve } from '@intake/test-kit/serve'
import { examine } from '../src/doctor/examine.ts'
import type { Finding } from '../src/doctor/finding.ts'
import { withSettings } from '../../../packages/schema/test/fixture.ts'
import { startServices } from './services.ts'

const { clickhouse, endpoints, intake, keys, s3 } = await startServices(t, { unshared: true })

interface Report {
  state: string
  findings: Finding[]
}

interface Examined {
  env?: Record<string, string>
  /** How many milliseconds the clock of this machine is ahead. */
  aheadMs?: number
}

interface Planted {
  what: string
  /** Plants the problem. May resolve to what the examination needs to find the problem. */
  plant: (t: Test) => Promise<Examined | void>
  /** Removes the problem. */
  repair?: (() => Promise<unknown>) | undefined
  code: ProblemCode
  detail: RegExp
}

/** Repairs tables and views as setup does. */
const setUpAgain = async () => {
  await migrate({ clickhouse })
  await repairViews(clickhouse)
}

/** Returns a URL of ClickHouse whose requests run as if the user's profile set this time zone. */
const inZone = (session_timezone: string) =>
  withSettings(endpoints.CLICKHOUSE_URL, { session_timezone })

const setRedis = (name: string, wrong: string, right: string) => ({
  plant: async () => void (await keys.config('SET', name, wrong)),
  repair: () => keys.config('SET', name, right),
})

/** Starts an object store that does not allow deleting. */
async function startLimitedStore(t: Test): Promise<string> {
  const target = new URL(s3.url)
  const { port } = await serve(t, (incoming, response) => {
    if (incoming.method === 'DELETE') {
      response.writeHead(403, { 'content-type': 'application/xml' })
      return response.end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>')
    }
    const { method, headers, url: path } = incoming
    const outgoing = request({ host: '127.0.0.1', port: target.port, method, headers, path })
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(outgoing)
  })
  const limited = new URL(s3.url)
  limited.port = String(port)
  return limited.href
}

const planted: Planted[] = [
  {
    what: 'Redis keeps no log',
    ...setRedis('appendonly', 'no', 'yes'),
    code: 'redis_could_lose_records',
    detail: /^Redis has appendonly no, not yes\.$/,
  },
  {
    what: 'Redis writes its log to disk every second',
    ...setRedis('appendfsync', 'everysec', 'always'),
    code: 'redis_could_lose_records',
    detail: /^Redis has appendfsync everysec, not always\.$/,
  },
  {
    what: 'Redis deletes records when it is full',
    ...setRedis('maxmemory-policy', 'allkeys-lru', 'noeviction'),
    code: 'redis_could_lose_records',
    detail: /^Redis has maxmemory-policy allkeys-lru, not noeviction\.$/,
  },
  {
    what: 'Redis has no memory limit',
    ...setRedis('maxmemory', '0', '512mb'),
    code: 'redis_memory',
    detail: /^Redis has no memory limit/,
  },
  {
    what: 'Redis has too little memory',
    ...setRedis('maxmemory', '64mb', '512mb'),
    code: 'redis_memory',
    detail: /^Redis has maxmemory 64 MiB, and at least 128 MiB is needed\.$/,
  },
  {
    what: 'Redis is a replica',
    plant: async () => void (await keys.replicaof('127.0.0.1', 1)),
    repair: () => keys.replicaof('NO', 'ONE'),
    code: 'redis_connection',
    detail: /^Redis is a replica\.$/,
  },
  {
    what: 'Redis has too few replicas for the setting of the gateways',
    plant: async () => ({ env: { REDIS_ACK_REPLICAS: '1' } }),
    code: 'redis_connection',
    detail: /^Redis has 0 replicas, and REDIS_ACK_REPLICAS is 1\.$/,
  },
  {
    what: 'the user that workers read with has a wrong password',
    plant: async () => {
      const url = new URL(endpoints.CLICKHOUSE_URL)
      url.password = 'wrong'
      return { env: { PAGE_CLICKHOUSE_URL: url.href } }
    },
    code: 'page_fails',
    detail: /^The views cannot be read with PAGE_CLICKHOUSE_URL: ClickHouse responded with 516/,
  },
  {
    what: 'a migration was not applied',
    plant: () =>
      clickhouse.command(
        "DELETE FROM intake.schema_migrations WHERE name = '0006-outcomes-and-watermark'",
      ),
    repair: setUpAgain,
    code: 'clickhouse_schema',
    detail: /^The migration 0006-outcomes-and-watermark is missing\.$/,
  },
  {
    what: 'somebody has replaced a view',
    plant: () =>
      clickhouse.command(
        'CREATE OR REPLACE VIEW intake.watermark AS SELECT 1 AS kind, 2 AS visible_until',
      ),
    repair: setUpAgain,
    code: 'clickhouse_schema',
    detail: /^The view intake\.watermark has another query\.$/,
  },
  {
    what: 'a view is missing',
    plant: () => clickhouse.command('DROP VIEW intake.sessions'),
    repair: setUpAgain,
    code: 'clickhouse_schema',
    detail: /^The view intake\.sessions is missing\.$/,
  },
  {
    what: 'a table does not write to disk before it confirms',
    plant: () =>
      clickhouse.command('ALTER TABLE intake.logs_raw MODIFY SETTING fsync_after_insert = 0'),
    repair: () =>
      clickhouse.command('ALTER TABLE intake.logs_raw MODIFY SETTING fsync_after_insert = 1'),
    code: 'clickhouse_settings',
    detail: /^The table intake\.logs_raw has fsync_after_insert 0, not 1\.$/,
  },
  {
    what: 'times without a zone are not in UTC',
    plant: async () => ({ env: { CLICKHOUSE_URL: inZone('Europe/London') } }),
    code: 'clickhouse_settings',
    detail: /^The user in CLICKHOUSE_URL reads times in the zone Europe\/London, not UTC\.$/,
  },
  {
    what: 'another bucket is named',
    plant: async () => ({ env: { S3_BUCKET: 'other' } }),
    code: 'object_store',
    detail: /^An object of the bucket other cannot be stored: the bucket does not exist\.$/,
  },
  {
    what: 'the access key may not remove',
    plant: async (t) => ({ env: { S3_ENDPOINT: await startLimitedStore(t) } }),
    code: 'object_store',
    detail:
      /^An object of the bucket intake cannot be removed: the access key is wrong or lacks the right\.$/,
  },
  {
    what: 'the clock of this machine is wrong',
    plant: async () => ({ aheadMs: 60_000 }),
    code: 'clock_skew',
    detail:
      // Allows 50 to 70 s: the measured difference may be wrong by up to the duration of a request.
      /^The clock of Redis is [56]\d\.\d s behind and that of ClickHouse [56]\d\.\d s behind of this machine/,
  },
  {
    what: 'settings of the gateway contradict each other',
    plant: async () => ({ env: { BYTES_IN_FLIGHT_MAX: '200000000' } }),
    code: 'configuration',
    detail: /^Gateway: BYTES_IN_FLIGHT_MAX must be at least \d+ for BATCH_BODY_BYTES_MAX/,
  },
]

async function doctor({ env }: Examined = {}) {
  const { code, stdout, stderr } = await intake(['doctor', '--json'], { ...env })
  if (stdout === '') throw new Error(stderr)
  return { code, ...(JSON.parse(stdout) as Report) }
}

/** The findings of `intake doctor` when it runs in this process. */
async function findingsOf({ env = {}, aheadMs = 0 }: Examined): Promise<Finding[]> {
  const now = Date.now
  Date.now = () => now() + aheadMs
  try {
    const { S3_ENDPOINT = s3.url, CLICKHOUSE_URL = endpoints.CLICKHOUSE_URL } = env
    return await examine({
      redisUrl: endpoints.REDIS_URL,
      clickhouseUrl: CLICKHOUSE_URL,
      s3Endpoint: S3_ENDPOINT,
      env,
    })
  } finally {
    Date.now = now
  }
}

t.test('nothing is wrong with services that are set up', async (t) => {
  t.same(await doctor(), { code: 0, state: 'ok', findings: [] })
  t.match(await intake(['doctor']), { code: 0, stdout: 'Nothing is wrong.\n' })
})

for (const { what, plant, repair, code, detail } of planted) {
  t.test(`${what}: only that is found`, async (t) => {
    const findings = await findingsOf((await plant(t)) ?? {})
    await repair?.()
    t.equal(findings.length, 1, JSON.stringify(findings))
    t.match(findings[0], { code, detail, change: /\w/, help: helpOf(code) })
  })
}

t.test('a user of the page whose times are not in UTC is found', async (t) => {
  const found = await findingsOf({ env: { PAGE_CLICKHOUSE_URL: inZone('Asia/Tokyo') } })
  t.match(found, [{ code: 'clickhouse_settings', detail: /^The user in PAGE_CLICKHOUSE_URL/ }])
  t.same(await findingsOf({ env: { PAGE_CLICKHOUSE_URL: inZone('Etc/UTC') } }), [])
})

t.test('all that is planted at once is found, and nothing else', async (t) => {
  const together = planted.filter(
    ({ code, what }) =>
      !/replica|no log|too little|another bucket|migration/.test(what) && code !== 'clock_skew',
  )
  const all: Examined = {}
  for (const { plant } of together) {
    const { env, ...others } = (await plant(t)) ?? {}
    Object.assign(all, others, { env: { ...all.env, ...env } })
  }
  const { code: exitCode, state, findings } = await doctor(all)
  t.match({ exitCode, state }, { exitCode: 3, state: 'down' })
  for (const { repair } of together) await repair?.()
  const describe = (code: string, text: string) => `${code}: ${text}`
  t.same(
    findings
      .map((one) =>
        describe(
          one.code,
          together.find(({ code, detail }) => code === one.code && detail.test(one.detail))?.what ??
            one.detail,
        ),
      )
      .toSorted(),
    together.map(({ code, what }) => describe(code, what)).toSorted(),
  )
  t.same(await doctor(), { code: 0, state: 'ok', findings: [] }, 'all is repaired')
})

t.test('what does not respond is found, and the rest is examined', async (t) => {
  const env = {
    REDIS_URL: 'redis://127.0.0.1:1',
    CLICKHOUSE_URL: 'http://u:p@127.0.0.1:1',
    S3_ENDPOINT: 'http://u:p@127.0.0.1:1',
  }
  const { code, findings } = await doctor({ env })
  t.equal(code, 3)
  const codes = findings.map((one) => one.code)
  t.same(codes, ['redis_connection', 'insert_retry', 'object_store'])
  for (const { detail } of findings) t.match(detail, /ECONNREFUSED|127\.0\.0\.1:1/)
})

t.test('with an address that is none only the settings are examined', async (t) => {
  const { code, findings } = await doctor({ env: { S3_ENDPOINT: 'nowhere' } })
  t.equal(code, 3)
  t.equal(findings.length, 1)
  t.match(findings[0], { code: 'configuration', detail: /^Gateway and console: S3_ENDPOINT must/ })
})
