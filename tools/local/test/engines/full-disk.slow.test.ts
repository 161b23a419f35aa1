import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '@intake/test-kit/until'
import { startClickHouse } from '../../src/index.ts'

const disk = mkdtempSync(join(tmpdir(), 'intake-disk-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]).status === 0
t.teardown(() => {
  if (mounted) spawnSync('umount', [disk])
  rmSync(disk, { recursive: true })
})

const skip = mounted ? false : 'no small disk can be mounted'
const filler = join(disk, 'filler')

async function start(t: Test) {
  const server = await startClickHouse({ dataDir: join(disk, 'clickhouse'), port: 0 })
  t.teardown(() => server.stop(0))
  const { origin, username, password } = new URL(server.url)
  const headers = { 'x-clickhouse-user': username, 'x-clickhouse-key': password }
  const execute = async (body: string) => {
    const signal = AbortSignal.timeout(60_000)
    const response = await fetch(origin, { method: 'POST', body, headers, signal })
    return `${response.status} ${await response.text()}`
  }
  await execute('CREATE TABLE IF NOT EXISTS numbers (n UInt64) ENGINE = MergeTree ORDER BY n')
  return { server, execute }
}

function fill({ leaveMiB }: { leaveMiB: number }) {
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(filler, Buffer.alloc(bavail * bsize - leaveMiB * 1024 ** 2))
}

t.test('ClickHouse refuses to write before the disk is full', { skip }, async (t) => {
  const { execute } = await start(t)
  const insert = 'INSERT INTO numbers VALUES (1), (2)'
  t.match(await execute(insert), /^200/)
  fill({ leaveMiB: 16 })
  const refused = /^500 Code: 243.*NOT_ENOUGH_SPACE/
  t.match(await execute(insert), refused)
  // docs/operations/clickhouse-disk.md says that ClickHouse now also refuses to drop months and to
  // truncate tables.
  t.match(await execute('ALTER TABLE numbers DROP PARTITION tuple()'), refused)
  t.match(await execute('TRUNCATE TABLE numbers'), refused)
  rmSync(filler)
  t.match(await execute(insert), /^200/)
  t.equal(await execute('SELECT count() FROM numbers'), '200 4\n')
})

t.test('a full disk ends ClickHouse, which keeps every confirmed insert', { skip }, async (t) => {
  const confirmed: number[] = []
  let inserts = 0
  for (let round = 0; round < 3; round++) {
    const { server, execute } = await start(t)
    const inserting = (async () => {
      for (let answer = ''; answer !== 'ended';) {
        const n = 1000 + inserts++
        answer = await execute(`INSERT INTO numbers VALUES (${n})`).catch(() => 'ended')
        if (answer.startsWith('200')) confirmed.push(n)
      }
    })()
    const before = confirmed.length
    await until('it inserts', () => confirmed.length >= before + 20)
    fill({ leaveMiB: 4 })
    let endedBy: NodeJS.Signals | null | undefined
    void server.exited.then(({ signal }) => (endedBy = signal))
    t.equal(await until('it has ended', () => endedBy, { stallMs: 60_000 }), 'SIGKILL')
    await inserting
    await t.rejects(start(t), {
      message: /^ClickHouse needs 16 MiB of free space to start: the disk of .* has \d MiB\.$/,
    })
    rmSync(filler)
  }
  const { execute } = await start(t)
  const answer = await execute('SELECT groupArray(n) FROM numbers')
  const stored = new Set(JSON.parse(answer.slice('200 '.length)) as number[])
  const missing = confirmed.filter((n) => !stored.has(n))
  t.strictSame(missing, [])
})
