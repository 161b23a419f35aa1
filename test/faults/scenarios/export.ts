import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ClickHouseError } from '@intake/clickhouse'
import { addDeadLetter } from '@intake/records'
import { cleanUpPartsSoon } from '@intake/test-kit/clean-up-parts'
import { readExport } from '@intake/test-kit/read-export'
import { until } from '@intake/test-kit/until'
import { startIntake, type IntakeRun } from '../kit/intake.ts'
import { enqueueRows, logRow, rawRows } from '../kit/rows.ts'
import type { Scenario, Stage } from '../scenario.ts'

const rounds = 4
const dropped = 'com.example.dropped'
const dayMs = 86_400_000

/** Runs a command to its end; repeats it while ClickHouse, which the scenario kills, is away. */
async function run({ cluster, root, expect }: Stage, ...args: string[]): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const { code, stdout, stderr } = await startIntake(cluster, root, args).outcome
    if (code === 0) return stdout
    if (attempt < 5) continue
    expect(false, `intake ${args.join(' ')} succeeds (${code}: ${stdout} ${stderr})`)
    return stdout
  }
}

/** Adds a record that ClickHouse has rejected, and replays it. */
async function replay(stage: Stage, seq: number): Promise<void> {
  const { cluster, history, payload } = stage
  // A minute ago: its window is exported already.
  const { id, json } = logRow(payload(seq), new Date(Date.now() - 60_000))
  await history.append({ seq, attempt: 1, is: 'issued', keyed: false, kind: 'logs' })
  const refusal = new ClickHouseError('no', { kind: 'rejected', code: 27, serverText: 'no' })
  await addDeadLetter(cluster.sql, { table: 'logs', row: json, refusal })
  await history.append({ seq, attempt: 1, is: 'acknowledged', id, ms: 0 })
  await run(stage, 'dead-letters', 'replay', '--all')
}

/** Stores records of a user in an earlier window, and erases them. */
async function eraseUser(stage: Stage, user: string, seq: number): Promise<string[]> {
  const { cluster, payload } = stage
  const rows = Array.from({ length: 20 }, (_, n) => {
    const plain = payload(seq + n)
    return logRow({ ...plain, body: { ...plain.body, unique_user_id: user } }, new Date())
  })
  // They are not in the history: a visible one is a violation at the end.
  const unnoted = { events: [], append: () => Promise.resolve(), close: () => Promise.resolve() }
  await enqueueRows({ cluster, history: unnoted, frames: [rows.map((row) => ({ seq, ...row }))] })
  await until('they are stored', async () => {
    const [row] = await cluster.sql.query<{ n: number }>(
      'SELECT count() AS n FROM intake.logs WHERE unique_user_id = {user:String}',
      { user },
    )
    return row?.n === rows.length
  })
  // Some exporter run may have them.
  await pause(3_000)
  const args = ['user', 'erase', user, '--yes', '--wait', '1', '--json']
  const killed = startIntake(cluster, stage.root, args)
  await killed.says('writing tombstones')
  await killed.kill()
  // It ends incomplete while ClickHouse keeps replaced parts; the tombstones are what counts here.
  await startIntake(cluster, stage.root, args).outcome
  return rows.map(({ id }) => id)
}

/** Scenarios of exports. */
export const exportScenarios: Scenario[] = [
  {
    id: 'F70',
    title:
      'exports under load: worker, ClickHouse and exporter killed, replays, erasures and a retention run in between',
    cluster: { afterSetUp: cleanUpPartsSoon },
    load: { rate: 60 },
    rewritesRows: true,
    async run(stage) {
      const { cluster, acknowledged, random, expect, dir, history, later, producer, root } = stage
      const lake = join(dir, 'lake')
      let exporter: IntakeRun | undefined
      later(async () => exporter?.kill())
      const startExporter = () => {
        exporter = startIntake(cluster, root, ['export', '--to', `dir:${lake}`, '--every', '1s'])
      }
      const old = new Date(Date.now() - 40 * dayMs)
      const gone = stage.payload(8_000_000)
      const { json } = logRow({ ...gone, body: { ...gone.body, bundle_identifier: dropped } }, old)
      await cluster.sql.insertSelect(`INSERT INTO intake.logs_raw FORMAT JSONEachRow ${json}`)
      await run(stage, 'retention', 'set', 'logs', '30d', '--bundle', dropped)

      const erased = new Set<string>()
      startExporter()
      for (let round = 0; round < rounds; round++) {
        await acknowledged(100)
        const before = await rawRows(cluster)
        await until('rows arrive', async () => (await rawRows(cluster)) > before)
        await exporter?.kill()
        startExporter()
        await pause(random() * 3_000)
        if (round % 3 === 0) await cluster.workers[0]!.kill()
        if (round % 3 === 1) await cluster.clickhouse.kill()
        const isExporter = round % 3 === 2
        if (isExporter) await exporter?.kill()
        await pause(random() * 2_000)
        await cluster.heal()
        if (isExporter) startExporter()
        await replay(stage, 9_000_001 + round)
        if (round % 2 === 1) {
          const ids = await eraseUser(stage, `erased-${round}`, 8_100_000 + round * 1_000)
          for (const id of ids) erased.add(id)
        }
        if (round === 3) await run(stage, 'retention', 'apply')
      }
      await acknowledged(100)
      await exporter?.kill()
      await producer.stop()
      const end = new Date()
      await until('the watermark has passed', async () => {
        const [row] = await cluster.sql.query<{ n: number }>(
          "SELECT count() AS n FROM intake.watermark WHERE visible_until > {end:DateTime64(3, 'UTC')}",
          { end: end.toISOString().replace('T', ' ').slice(0, -1) },
        )
        return row?.n === 2
      })
      await run(stage, 'export', '--to', `dir:${lake}`)
      const verified = await run(stage, 'export', '--to', `dir:${lake}`, '--verify')
      expect(verified.includes('as in their manifests'), `the export is verified (${verified})`)

      const ids = await readExport({ clickhouse: cluster.sql, url: cluster.clickhouse.url() }, lake)
      const found = new Set(ids)
      expect(found.size === ids.length, `each record once (${ids.length - found.size} more)`)
      const visible = await cluster.sql.query<{ id: string }>(
        'SELECT toString(id) AS id FROM intake.logs UNION ALL SELECT toString(id) FROM intake.feedback',
      )
      const missing = visible.filter(({ id }) => !found.has(id))
      expect(missing.length === 0, `nothing visible is missing (${missing.length})`)
      const acked = history.events.flatMap((one) => (one.is === 'acknowledged' ? [one.id] : []))
      const lost = acked.filter((id) => !found.has(id))
      expect(
        lost.length === 0,
        `nothing acknowledged is missing (${lost.length} of ${acked.length})`,
      )
      const kept = ids.filter((id) => erased.has(id))
      expect(kept.length === 0 && erased.size > 0, `nothing erased is left (${kept.length})`)
      const [left] = await cluster.sql.query<{ n: number }>(
        `SELECT count() AS n FROM intake.logs_raw WHERE bundle_identifier = '${dropped}'`,
      )
      expect(left?.n === 0, 'retention has dropped its rows')
      const more = ids.length - visible.length
      expect(more === 0, `nothing else is in the export (${more})`)
      console.log(`  ${acked.length} acknowledged, ${erased.size} erased, ${ids.length} exported`)
    },
  },
]
