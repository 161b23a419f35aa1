import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { ClickHouse } from '@intake/clickhouse'
import { documentedQueries } from '@intake/test-kit/documented-queries'
import {
  feedbackRow,
  logRow,
  member,
  startServer,
  uuidV7,
} from '../../packages/schema/test/fixture.ts'
import { startPage } from '../../console/test/page/fixture.ts'

const page = new URL('../../docs/queries.md', import.meta.url)
export const application = 'com.example.fleet'
const from = '2026-11-02 00:00:00'
const to = '2026-11-16 00:00:00'
const minutes = (Date.parse(`${to}Z`) - Date.parse(`${from}Z`)) / 60_000
const events = ['app_open', 'screen_view', 'purchase', 'crash', 'request']

const sent = (index: number, of: number) => {
  const time = new Date(Date.parse(`${from}Z`) + Math.floor((index * minutes) / of) * 60_000)
  const user = index % 7
  return {
    id: uuidV7(time.toISOString()),
    time: time.toISOString(),
    received_at: new Date(time.getTime() + (index % 3) * 600_000).toISOString(),
    bundle_identifier: application,
    device_uuid: `00000000-0000-4000-8000-00000000000${user}`,
    unique_user_id: `user-${user}`,
    request_id: randomUUID(),
    device: {
      version_name: index % 2 === 0 ? '1.0' : '2.0',
      battery_level: index % 100,
      first_install_time: '2026-11-01T08:30:00.000Z',
    },
  }
}
const logs = Array.from({ length: 2_000 }, (_, index) =>
  logRow({
    ...sent(index, 2_000),
    event: events[index % events.length],
    params: { screen: `s${index % 4}`, path: '/a', ms: index, amount: index % 10 },
    extra: index % 5 === 0 ? { foo: index } : {},
  }),
)
const feedback = Array.from({ length: 60 }, (_, index) =>
  feedbackRow({
    ...sent(index, 60),
    text: `It is fine (${index})`,
    attachments: [{ key: `k${index}`, content_type: 'image/png', bytes: 1_000, sha256: '00' }],
  }),
)

const about = feedback[30]!
/** The parameters of the documented queries. */
export const documentedParams = { app: application, from, to, feedback: about.id, key: 'key-1' }

/**
 * Checks that a cluster and a single server with the same records return the same results: the same
 * rows to analysts, and the same page.
 */
export async function testSameAnswers(t: Test, fleet: ClickHouse): Promise<void> {
  const single = (await startServer(t)).connect(t)
  // Inserts everything twice, as after a lost confirmation.
  for (const clickhouse of [fleet, single, fleet, single]) {
    await clickhouse.insertRows({ table: 'logs', members: [member(logs)], rows: logs.length })
    const rows = feedback.length
    await clickhouse.insertRows({ table: 'feedback', members: [member(feedback)], rows })
  }
  for (const { title, sql } of documentedQueries(readFileSync(page, 'utf8'))) {
    const [ofFleet, ofSingle] = await Promise.all([
      fleet.query<object>(sql, documentedParams),
      single.query<object>(sql, documentedParams),
    ])
    t.same(inOneOrder(ofFleet), inOneOrder(ofSingle), `${title}: ${ofSingle.length} rows`)
  }

  const pages = await Promise.all([fleet, single].map((reader) => startPage(t, { reader })))
  const inApplication = `app=${application}`
  for (const path of [
    `/feedback?${inApplication}`,
    `/feedback?${inApplication}&text=fine`,
    `/events?${inApplication}`,
    `/events?${inApplication}&event=crash&version=2.0&from=2026-11-05&to=2026-11-07`,
    `/events?${inApplication}&device=${about.device_uuid}`,
    `/feedback/${about.id}`,
    `/events/${logs[900]!.id}`,
    `/search?q=${logs[900]!.id}`,
    `/search?q=${logs[900]!.request_id}`,
    `/search?q=${about.request_id}`,
  ]) {
    const [ofFleet, ofSingle] = await Promise.all(pages.map(({ url }) => show(url + path)))
    t.equal(ofFleet, ofSingle, path)
    t.match(ofFleet, application, `${path} shows records`)
  }
  for (const path of ['/', '/events', '/dead-letters']) t.ok(await show(pages[0]!.url + path), path)
}

/** Sorts the rows as texts, because rows with equal sort keys may come in any order. */
export const inOneOrder = (rows: object[]) => rows.map((row) => JSON.stringify(row)).toSorted()

async function show(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(60_000) })
  const body = await response.text()
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${body}`)
  // Leaves out what depends on the time of the request: header, footer and ages.
  return body.replaceAll(
    /<header class="top">[^]*?<\/header>|<footer[^]*?<\/footer>|\d+ (?:s|min|h|d) ago/g,
    '',
  )
}
