import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startClickHouse } from '../src/index.ts'

const disk = mkdtempSync(join(tmpdir(), 'intake-disk-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]).status === 0
t.teardown(() => {
  if (mounted) spawnSync('umount', [disk])
  rmSync(disk, { recursive: true })
})

t.test(
  'ClickHouse refuses an insert before the disk is full',
  { skip: mounted ? false : 'no small disk can be mounted' },
  async (t) => {
    const server = await startClickHouse({ dataDir: join(disk, 'clickhouse'), port: 0 })
    t.teardown(() => server.stop())
    const { origin, username, password } = new URL(server.url)
    const authorization = `Basic ${btoa(`${username}:${password}`)}`
    const execute = async (body: string) => {
      const signal = AbortSignal.timeout(60_000)
      const response = await fetch(origin, {
        method: 'POST',
        body,
        headers: { authorization },
        signal,
      })
      return `${response.status} ${await response.text()}`
    }
    await execute('CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n')
    const insert = 'INSERT INTO numbers SELECT number FROM system.numbers LIMIT 10'

    const filler = join(disk, 'filler')
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 16 * 1024 ** 2))
    t.match(await execute(insert), /^500 Code: 243.*NOT_ENOUGH_SPACE/)
    rmSync(filler)
    t.match(await execute(insert), /^200/)
    t.equal(await execute('SELECT count() FROM numbers'), '200 10\n')
  },
)
