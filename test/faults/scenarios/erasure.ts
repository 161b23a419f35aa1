import { addDeadLetter } from '@intake/records'
import { ClickHouseError } from '@intake/clickhouse'
import { cleanUpPartsSoon } from '@intake/test-kit/clean-up-parts'
import { until } from '@intake/test-kit/until'
import { fakeInserts } from '../kit/http-fake.ts'
import { startIntake } from '../kit/intake.ts'
import type { Payload } from '../kit/payload.ts'
import { logRow } from '../kit/rows.ts'
import { createSender } from '../kit/sender.ts'
import { framesWith, hiddenParts, objectsOf, rawRowsOf, visibleRowsOf } from '../kit/traces.ts'
import type { Scenario, Stage } from '../scenario.ts'

const user = 'user-who-is-erased-4711'
const hourMs = 60 * 60 * 1_000

/**
 * Sends records of the user who is erased. They are not in the history, so each of them that is
 * visible at the end is a violation ("visible but never issued").
 */
function createPerson({ cluster, payload, later, expect }: Stage) {
  const sender = createSender({ apiKey: cluster.apiKey, connections: 16 })
  later(() => sender.close())
  const sent: { record: Payload; id: string }[] = []
  let seq = 3_000_000

  const sendOne = async (record: Payload) => {
    const { outcome } = await sender.send(cluster.gatewayUrls[0]!, record)
    return outcome.is === 'acknowledged' ? outcome.id : undefined
  }
  return {
    sent,
    /** Ids of all records that were acknowledged. */
    ids: () => new Set(sent.map(({ id }) => id)),
    async send(count: number) {
      await Promise.all(
        Array.from({ length: count }, async () => {
          const plain = payload(seq++)
          const record = { ...plain, body: { ...plain.body, unique_user_id: user } }
          const id = await sendOne(record)
          if (id !== undefined) sent.push({ record, id })
        }),
      )
    },
    /** Repeats all records with an idempotency key or client id; resolves to their number. */
    async repeat(): Promise<number> {
      const repeatable = sent.filter(({ record }) => record.keyed)
      await Promise.all(
        repeatable.map(async ({ record, id }) => {
          // Tries again, because a busy gateway may refuse the repeat at first.
          const again = await until('a repeat is acknowledged', () => sendOne(record))
          expect(again === id, `a repeat gets the id of the erased record (${again})`)
        }),
      )
      return repeatable.length
    },
  }
}

/** Kills the only running worker. New records then wait in the queue for the next worker. */
const killWorker = ({ cluster }: Stage) => cluster.workers.at(-1)!.kill()

/**
 * Starts a worker, and kills it after its insert was stored but before it completed the frames.
 * Then starts another worker, which gets the frames again.
 */
async function redeliver(stage: Stage, isStored: () => Promise<boolean>) {
  const { cluster } = stage
  // Delays only the responses to inserts. Other requests must succeed, because a new worker claims
  // no frame before it has read the mark of the installation in ClickHouse.
  const fake = await fakeInserts(stage)
  fake.set({ is: 'delayed', ms: hourMs })
  const worker = await cluster.addWorker()
  await until('the insert is stored', isStored)
  await worker.kill()
  fake.set({ is: 'passed' })
  await cluster.addWorker()
}

async function expectNothingLeft(stage: Stage, ids: ReadonlySet<string>): Promise<void> {
  const { cluster, expect } = stage
  const raw = await rawRowsOf(cluster, user)
  expect(raw === 0, `no row of the user is in a raw table (${raw})`)
  const parts = await hiddenParts(cluster)
  expect(parts.length === 0, `no old part is on disk (${parts.join(' ')})`)
  const objects = await objectsOf(cluster, ids)
  expect(objects.length === 0, `no object of the user is stored (${objects.length})`)
  const frames = await framesWith(cluster, user)
  expect(frames === 0, `no frame holds rows of the user (${frames})`)
}

/**
 * Runs an `intake` command to its end and expects exit code 0. An erasure exits with 0 only if
 * everything is erased.
 */
async function run({ cluster, root, expect }: Stage, ...args: string[]) {
  const { code, stdout, stderr } = await startIntake(cluster, root, args).outcome
  expect(code === 0, `intake ${args.join(' ')} succeeds (${code}: ${stdout} ${stderr})`)
  return JSON.parse(stdout || '{}') as { framesAwaited?: number; objectsDeleted?: number }
}

/** Scenarios in which erased data must not reappear. */
export const erasureScenarios: Scenario[] = [
  {
    id: 'F66',
    title:
      'a user is erased under load, worker and command killed in the middle; repeats afterwards',
    cluster: { afterSetUp: cleanUpPartsSoon },
    load: { rate: 60 },
    rewritesRows: true,
    async run(stage) {
      const { cluster, acknowledged, expect, payload, root, later } = stage
      const person = createPerson(stage)
      await acknowledged(50)
      await person.send(100)
      await until('they are visible', async () => {
        return (await visibleRowsOf(cluster, user)) >= person.sent.length
      })
      const plain = payload(3_900_001)
      const bad = { ...plain, body: { ...plain.body, unique_user_id: user } }
      const refusal = new ClickHouseError('no', { kind: 'rejected', code: 27, serverText: user })
      const { json } = logRow(bad, new Date())
      await addDeadLetter(cluster.sql, { table: 'logs', row: json, refusal })
      const objects = (await objectsOf(cluster, person.ids())).length
      expect(objects > 0, 'some feedback of the user has attachments')

      await killWorker(stage)
      await person.send(50)
      const erase = ['user', 'erase', user, '--yes', '--json']
      const killed = startIntake(cluster, root, erase)
      later(() => killed.kill())
      await killed.says('waiting for a worker')
      const before = await rawRowsOf(cluster, user)
      await redeliver(stage, async () => (await rawRowsOf(cluster, user)) > before)
      await killed.says('writing tombstones')
      await killed.kill()

      const report = await run(stage, ...erase)
      expect((await visibleRowsOf(cluster, user)) === 0, 'nothing of the user is visible')
      await expectNothingLeft(stage, person.ids())
      expect(report.framesAwaited !== undefined, 'the command reports')

      await acknowledged(50)
      await killWorker(stage)
      const repeats = await person.repeat()
      expect(repeats > 30, `repeats are sent (${repeats})`)
      await redeliver(stage, async () => (await rawRowsOf(cluster, user)) > 0)
      await until('no frame holds rows of the user', async () => {
        expect((await visibleRowsOf(cluster, user)) === 0, 'no repeat is ever visible')
        return (await framesWith(cluster, user)) === 0
      })
      await run(stage, 'erasures', 'apply', '--json')
      expect((await visibleRowsOf(cluster, user)) === 0, 'no repeat is visible')
      await expectNothingLeft(stage, person.ids())
      const [tombs] = await cluster.sql.query<{ n: number }>(
        `SELECT (SELECT uniqExact(id) FROM intake.logs_raw WHERE is_deleted = 1)
              + (SELECT uniqExact(id) FROM intake.feedback_raw WHERE is_deleted = 1) AS n`,
      )
      // Every record and the dead letter have a tombstone. A record whose response was lost has
      // one, too, so there can be more tombstones than acknowledged records.
      const records = person.sent.length + 1
      expect(tombs!.n >= records, `a tombstone for each of ${records} records (${tombs!.n})`)

      // With `--suppress`, the command waits until every gateway has read the list of suppressed
      // senders, and then erases the user. A second erasure must succeed, too. What the user sends
      // afterwards is acknowledged, but not stored.
      await run(stage, ...erase, '--suppress')
      await run(stage, ...erase)
      await person.send(20)
      await expectNothingLeft(stage, person.ids())
      await acknowledged(50)
    },
  },
]
