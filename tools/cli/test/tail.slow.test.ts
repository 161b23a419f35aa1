import { kill } from 'node:process'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { startApp } from '@intake/test-kit/app'
import { enqueueLogs } from '@intake/test-kit/enqueue'
import { until } from '@intake/test-kit/until'
import { feedbackRow, insertRows, logRow, uuidV7 } from '../../../packages/schema/test/fixture.ts'
import { startIntake, startServices } from './services.ts'

const events = 2_000
const rowsPerFrame = 100

const { dataDir, server, endpoints, clickhouse, insert, keys } = await startServices(t, {
  unshared: true,
})

/** Runs `intake tail` in a pipe, so that it prints a line of JSON for each record. */
async function startTail(t: Test, args: string[] = []) {
  const tail = startIntake(t, ['tail', ...args], endpoints)
  const shown: { id: string; time: string; event: string }[] = []
  createInterface(tail.child.stdout).on('line', (line) => {
    shown.push(JSON.parse(line) as (typeof shown)[number])
  })
  await until('it follows', () => tail.notes.some((note) => note.startsWith('following')))
  return { ...tail, shown }
}

function event(fields: { name?: string; ageMs?: number } = {}) {
  const { name = 'opened', ageMs = 0 } = fields
  const time = new Date(Date.now() - ageMs).toISOString()
  const received_at = new Date().toISOString()
  return logRow({ id: uuidV7(time), time, received_at, event: name })
}

t.test('each event is printed once, with late ones, repeats and killed workers', async (t) => {
  const tail = await startTail(t)
  const send = (rows: object[]) => enqueueLogs(keys, [rows.map((row) => JSON.stringify(row))])
  const workers = await Promise.all(
    [1, 2].map(() => startApp(t, 'worker', { dataDir, env: endpoints })),
  )

  const sent: ReturnType<typeof event>[] = []
  let repeats = 0
  let kills = 0
  async function sendAll(): Promise<void> {
    for (let frame = 0; sent.length < events; frame++) {
      const rows = Array.from({ length: Math.min(rowsPerFrame, events - sent.length) }, (_, n) =>
        event(n % 50 === 0 ? { ageMs: 3 * 3_600_000 } : {}),
      )
      sent.push(...rows)
      await send(rows)
      // After every tenth frame, sends an earlier batch again, like a client that got no response.
      const earlier = sent.slice((frame - 9) * rowsPerFrame, (frame - 8) * rowsPerFrame)
      if (frame % 10 === 9) {
        const received_at = new Date().toISOString()
        await send(earlier.map((row) => ({ ...row, received_at })))
        repeats += earlier.length
      }
    }
  }
  async function killWorkers(): Promise<void> {
    for (const share of [0.2, 0.6]) {
      await until(`${share} of the events are printed`, () => tail.shown.length >= share * events, {
        progress: () => tail.shown.length,
      })
      const worker = workers[kills++ % workers.length]!
      await worker.kill()
      await worker.start()
    }
  }
  await Promise.all([sendAll(), killWorkers()])
  await until('all events are printed', () => tail.shown.length >= events, {
    progress: () => tail.shown.length,
  })
  // Waits until the watermark has passed all repeats. From then on, no record may be missing or be
  // printed twice.
  const sentUntil = sent.at(-1)!.received_at
  await until('the watermark has passed them', async () => {
    const [row] = await clickhouse.query<{ isPast: number }>(
      `SELECT visible_until > parseDateTime64BestEffort({at:String}, 3, 'UTC') AS isPast
       FROM intake.watermark WHERE kind = 'logs'`,
      { at: sentUntil },
    )
    return row?.isPast === 1
  })
  const last = event({ name: 'last' })
  sent.push(last)
  await send([last])
  await until('the last event is printed', () => tail.shown.some(({ id }) => id === last.id))
  tail.child.kill('SIGINT')
  t.same(await tail.exited, [0, null])
  t.match(tail.notes.at(-1), /^ended; complete up to \d{4}-/)
  t.equal(tail.shown.length, sent.length, 'none is printed twice')
  t.same(tail.shown.map(({ id }) => id).toSorted(), sent.map(({ id }) => id).toSorted())
  t.comment(`${sent.length} events, ${repeats} repeats, ${kills} workers killed`)
})

t.test('it ends without an error when the process that reads it has ended', async (t) => {
  const tail = await startTail(t, ['--event', 'unread'])
  tail.child.stdout.destroy()
  await insert('logs', [event({ name: 'unread' })])
  t.same(await tail.exited, [0, null])
  t.notMatch(tail.notes.join('\n'), /EPIPE|Error/)
})

t.test('it ends on a signal although ClickHouse does not respond', async (t) => {
  const tail = await startTail(t)
  kill(server.pid, 'SIGSTOP')
  try {
    tail.child.kill('SIGTERM')
    t.same(await tail.exited, [0, null])
    t.match(tail.notes.at(-1), /^ended/)
  } finally {
    kill(server.pid, 'SIGCONT')
  }
})

t.test('it waits for a ClickHouse that does not respond when it starts', async (t) => {
  kill(server.pid, 'SIGSTOP')
  const { child, exited, notes } = startIntake(t, ['tail'], endpoints)
  try {
    await until('it waits', () => notes.some((it) => it.includes('ClickHouse does not respond')))
  } finally {
    kill(server.pid, 'SIGCONT')
  }
  await until('it follows', () => notes.some((it) => it.startsWith('following events')))
  child.kill('SIGTERM')
  t.same(await exited, [0, null])
})

t.test('it ends on a signal although nobody reads its output', async (t) => {
  const { child, exited, notes } = startIntake(t, ['tail', '--event', 'stalled'], endpoints)
  await until('it follows', () => notes.some((it) => it.startsWith('following events')))
  // All texts together are far longer than what a pipe and the streams at its ends can hold.
  const params = { text: 'x'.repeat(10_000) }
  await insert(
    'logs',
    Array.from({ length: 400 }, () => ({ ...event({ name: 'stalled' }), params })),
  )
  // Waits for the first bytes, but does not read them.
  await until('its output has begun', () => child.stdout.readableLength > 0)
  child.kill('SIGINT')
  t.same(await exited, [0, null])
  t.equal(notes.at(-1), 'ended; the last lines were not read')
})

t.test('it is silent about feedback that is as late as in ordinary operation', async (t) => {
  const visible_until = new Date(Date.now() - 40_000).toISOString()
  await insertRows(clickhouse, 'watermark', [{ kind: 'feedback', visible_until }])
  const tail = await startTail(t, ['--feedback'])
  const time = new Date().toISOString()
  await insert('feedback', [feedbackRow({ id: uuidV7(time), time, received_at: time })])
  await until('it is shown', () => tail.shown.length === 1)
  tail.child.kill('SIGTERM')
  await tail.exited
  t.notMatch(tail.notes.join('\n'), 'behind')
})
