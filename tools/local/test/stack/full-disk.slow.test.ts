import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

import type { Endpoints } from '@intake/runtime/endpoints'
import { until } from '@intake/test-kit/until'
import { postLog } from '@intake/test-kit/post'
import { launchStack, readEndpoints, ready } from '@intake/test-kit/running-stack'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'

const disk = mkdtempSync(join(tmpdir(), 'intake-disk-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128m', 'tmpfs', disk]).status === 0
t.teardown(() => {
  if (mounted) spawnSync('umount', [disk])
  rmSync(disk, { recursive: true })
})

const sendLog = ({ gateway, apiKey }: Endpoints, event: string): Promise<Response> =>
  postLog({ url: gateway, apiKey }, { event, params: { text: 'x'.repeat(2_000) } })

function hasEnded(pid: number) {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

t.test(
  'npm start survives a full disk, reports it briefly, and loses nothing',
  { skip: mounted ? false : 'no small disk can be mounted' },
  async (t) => {
    const dataDir = join(disk, 'data')
    const { output, untilSaid } = launchStack(t, dataDir)
    t.teardown(() => {
      if (!t.passing()) console.error(output())
    })
    await untilSaid(ready)
    const endpoints = () => readEndpoints(dataDir)
    const before = endpoints()

    let accepted = 0
    for (; accepted < 5; accepted++) t.equal((await sendLog(before, 'while full')).status, 201)

    const filler = join(disk, 'filler')
    mkdirSync(filler)
    const fill = ({ leave = 0 } = {}) => {
      const { bavail, bsize } = statfsSync(disk)
      try {
        writeFileSync(join(filler, `${performance.now()}`), Buffer.alloc(bavail * bsize - leave))
      } catch {
        // This fails if another process has used some of the space since `statfsSync`.
      }
    }
    // Leaves 4 MiB. docs/guarantees.md excludes a disk that fills within milliseconds.
    fill({ leave: 4 * 1024 ** 2 })
    await untilSaid('ClickHouse could not be restarted: ClickHouse needs 16 MiB of free space')
    await until('ClickHouse has ended', () => hasEnded(before.pids.clickhouse!))
    fill()
    await until('records are refused', async () => {
      fill()
      const { status } = await sendLog(before, 'while full')
      if (status === 201) accepted++
      return status === 503
    })
    const second = launchStack(t, join(disk, 'another'))
    const filling = setInterval(() => fill(), 20)
    const ended = await second.exited.finally(() => clearInterval(filling))
    t.strictSame(ended, { code: 1, signal: null })
    // Which service fails first depends on how much space is free at that moment.
    t.match(
      second.output(),
      /^(Intake cannot start: ENOSPC|ClickHouse needs 16 MiB|Redis ended before it was ready)[^\n]+\n$/m,
    )
    t.notMatch(second.output(), /^\s+at /m, 'no stack trace')

    // The death of a process makes the stack write endpoints.json, which fails on the full disk.
    process.kill(before.pids.s3 ?? 0, 'SIGKILL')
    await untilSaid('S3 died')
    fill()

    rmSync(filler, { recursive: true })
    await untilSaid('ClickHouse is running again')
    await until('records are accepted', async () => {
      const { status } = await sendLog(before, 'afterwards').catch(() => ({ status: 0 }))
      return status === 201
    })
    await until('endpoints.json is up to date again', () => {
      const { redis, s3, gateway } = endpoints().pids
      return s3 !== before.pids.s3 && ![redis, s3, gateway].includes(null)
    })
    const clickhouse = openClickHouse(t, { url: before.clickhouse })
    await until('everything accepted is visible', async () => {
      const sql = "SELECT countIf(event = 'while full') AS stored FROM intake.logs"
      const [row] = await clickhouse.query<{ stored: number }>(sql)
      return row!.stored >= accepted
    })
    t.notMatch(output(), /^\s+at /m, 'no stack trace')
  },
)
