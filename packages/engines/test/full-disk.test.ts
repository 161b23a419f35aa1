import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { until } from '@intake/test-kit/until'
import { startClickHouse } from '../src/index.ts'

const disk = mkdtempSync(join(tmpdir(), 'intake-disk-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]).status === 0
t.teardown(() => {
  if (mounted) spawnSync('umount', [disk])
  rmSync(disk, { recursive: true })
})

const skip = mounted ? false : 'no small disk can be mounted'
const filler = join(disk, 'filler')
const insert = 'INSERT INTO numbers SELECT number FROM system.numbers LIMIT 10'

async function start() {
  const server = await startClickHouse({ dataDir: join(disk, 'clickhouse'), port: 0 })
  const { origin, username, password } = new URL(server.url)
  const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` }
  const execute = async (body: string) => {
    const signal = AbortSignal.timeout(60_000)
    const response = await fetch(origin, { method: 'POST', body, headers, signal })
    return `${response.status} ${await response.text()}`
  }
  return { server, execute }
}

function fill({ leave }: { leave: number }) {
  const { bavail, bsize } = statfsSync(disk)
  try {
    writeFileSync(filler, Buffer.alloc(bavail * bsize - leave))
  } catch {
    // ClickHouse used a part of it meanwhile, and the disk is full
  }
}

t.test('ClickHouse refuses an insert before the disk is full', { skip }, async (t) => {
  const { server, execute } = await start()
  t.teardown(() => server.stop(0))
  await execute('CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n')
  fill({ leave: 16 * 1024 ** 2 })
  t.match(await execute(insert), /^500 Code: 243.*NOT_ENOUGH_SPACE/)
  rmSync(filler)
  t.match(await execute(insert), /^200/)
  t.equal(await execute('SELECT count() FROM numbers'), '200 10\n')
})

t.test('a disk that others fill ends ClickHouse, and no insert is missing', { skip }, async (t) => {
  const confirmed: number[] = []
  let inserts = 0
  for (let round = 1; round <= 3; round++) {
    const { server, execute } = await start()
    t.teardown(() => server.stop(0))
    const inserting = (async () => {
      for (let answer = ''; answer !== 'ended';) {
        const n = 1000 + inserts++
        answer = await execute(`INSERT INTO numbers VALUES (${n})`).catch(() => 'ended')
        if (answer.startsWith('200')) confirmed.push(n)
      }
    })()
    await until('it inserts', () => confirmed.length >= round * 20)
    fill({ leave: 4 * 1024 ** 2 })
    t.strictSame(await server.exited, { code: null, signal: 'SIGKILL' })
    await inserting
    await t.rejects(start(), {
      message: /^ClickHouse needs 16 MiB of free space to start: the disk of .* has \d MiB\.$/,
    })
    rmSync(filler)
  }
  const { server, execute } = await start()
  t.teardown(() => server.stop(0))
  const answer = await execute('SELECT groupArray(n) FROM numbers')
  const stored = new Set(JSON.parse(answer.slice('200 '.length)) as number[])
  t.strictSame(
    confirmed.filter((n) => !stored.has(n)),
    [],
  )
})
