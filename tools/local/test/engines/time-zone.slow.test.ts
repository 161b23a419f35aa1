import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'

/**
 * A shell script that runs a program as on a machine with another time zone. It mounts another
 * /etc, which only this program sees.
 */
const inZone = `layer=$(mktemp -d) && mount -t tmpfs layer "$layer" && mkdir "$layer/upper" "$layer/work" &&
mount -t overlay etc -o "lowerdir=/etc,upperdir=$layer/upper,workdir=$layer/work" /etc &&
ln -sfn "/usr/share/zoneinfo/$1" /etc/localtime && shift && exec "$@"`
const zone = 'Asia/Kathmandu'
const engines = fileURLToPath(new URL('../../src/index.ts', import.meta.url))
const root = fileURLToPath(new URL('../../../..', import.meta.url))

const unshared = (program: string, ...args: string[]) =>
  ['-m', 'sh', '-c', inZone, 'sh', zone, program, ...args] as const

/** Returns why this machine cannot give a process another time zone; false if it can. */
function obstacle(): string | false {
  const { status } = spawnSync('unshare', unshared('true'), { stdio: 'ignore' })
  return status === 0
    ? false
    : 'only root can give a process another /etc, with unshare and overlayfs'
}

const program = `
import { readFileSync } from 'node:fs'
import { startClickHouse, startRedis } from ${JSON.stringify(engines)}
const [, dataDir] = process.argv
const server = await startClickHouse({ dataDir: dataDir + '/clickhouse', port: 0 })
const redis = await startRedis({ dataDir: dataDir + '/redis', port: 0 })
const [logged] = /\\d+ [A-Z][a-z]{2} \\d{4} [\\d:]{8}/.exec(readFileSync(dataDir + '/redis/redis.log', 'utf8'))
const query = (url, sql) => {
  const { username, password, origin } = new URL(url)
  const headers = { 'x-clickhouse-user': username, 'x-clickhouse-key': password }
  return fetch(origin, { method: 'POST', headers, body: sql }).then((response) => response.text())
}
const sql = "SELECT serverTimezone(), timezone(), toUnixTimestamp(toDateTime('2026-07-01')) FORMAT TSV"
const users = [server.url, server.analystUrl]
console.log(JSON.stringify({
  machine: Intl.DateTimeFormat().resolvedOptions().timeZone,
  redisLogMs: Date.parse(logged + ' UTC') - Date.now(),
  rows: await Promise.all(users.map((url) => query(url, sql))),
}))
await Promise.all([server.stop(), redis.stop()])
`

t.test(
  'ClickHouse and the log of Redis are in UTC on a machine of another zone',
  { skip: obstacle() },
  async (t) => {
    const { TZ: _, ...env } = process.env
    const node = [
      '--import=tsx',
      '--conditions=intake:source',
      '--input-type=module',
      '-e',
      program,
    ]
    const args = unshared(process.execPath, ...node, createDataDir(t))
    const printed = execFileSync('unshare', args, { cwd: root, env, encoding: 'utf8' })
    const utc = `UTC\tUTC\t${Date.UTC(2026, 6) / 1_000}\n`
    // Node prints Katmandu, the older name of Kathmandu.
    t.match(JSON.parse(printed), { machine: /^Asia\/Kath?mandu$/ })
    const { rows, redisLogMs } = JSON.parse(printed) as { rows: string[]; redisLogMs: number }
    t.same(rows, [utc, utc])
    t.ok(Math.abs(redisLogMs) < 3_600_000, `the log is ${redisLogMs} ms off`)
  },
)
