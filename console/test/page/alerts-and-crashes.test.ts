import t from 'tap'
import { atTime, logRow, insertRows } from '../../../packages/schema/test/fixture.ts'
import { readCrashes } from '../../src/page/read-usage.ts'
import { linksIn, startRowStore, view } from './fixture.ts'

const { owner, insert, startReaderPage } = await startRowStore(t)
const bundle_identifier = 'com.example.app'
const now = new Date().toISOString()
const hostile = '<script>x</script>'

t.test('an application shows its crashes, and the page shows alerts that are not ok', async (t) => {
  const stack = `TypeError: ${hostile} is not a function\n    at run (app.js:1:2)`
  const crash = { bundle_identifier, event: 'crash', params: { stack } }
  await insert('logs', [logRow({ ...atTime(now), ...crash })])
  const state = (id: string, event: string, value: string) => ({
    id,
    change: 1,
    bundle_identifier,
    event,
    state: value,
    since: now,
    value: 140,
    evaluated_at: now,
    valid_until: '2100-01-01T00:00:00.000Z',
  })
  const rows = [
    state('alert_1', hostile, 'firing'),
    state('alert_2', 'opened', 'unknown'),
    state('alert_3', 'fine', 'ok'),
  ]
  await insertRows(owner, 'alerts', rows)
  const { url } = await startReaderPage(t)
  const read = async (path: string) => (await view(url, path)).text

  const application = await read(`/applications/${bundle_identifier}`)
  t.match(application, /TypeError: .{0,40}script.{0,60}is not a function/)
  t.match(application, /1 device, 1\s+event/)
  t.notMatch(application, hostile)
  const toViews = linksIn(application, '/').filter((link) =>
    /^\/(?!help|applications|\?all|$)/.test(link),
  )
  const isLimited = (link: string) => link.includes(`app=${bundle_identifier}`)
  t.same(
    toViews.filter((link) => !/\.\w+$/.test(link) && !isLimited(link)),
    [],
    'links keep the choice',
  )
  for (const shown of [application, await read('/')]) {
    t.match(shown, /The alert on <bdi>&#60;script.{0,60} fires<\/a>\s+in\s+.*: 140 in its window/)
    t.match(shown, /and 1 more like this/)
  }
  const whole = await read('/?all')
  t.match(whole, /The alert on <bdi>opened<\/bdi> is unknown/)
  t.notMatch(whole, 'The alert on <bdi>fine')
})

t.test('the status shows what operators have changed, the last ten first', async (t) => {
  const change = (minute: number, action: string, subject: string) => ({
    id: `00000000-0000-4000-8000-${String(minute).padStart(12, '0')}`,
    at: `2026-12-01T10:${String(minute).padStart(2, '0')}:00.000Z`,
    who: `${hostile}@laptop`,
    action,
    subject,
    detail: '{"secret":"of the operator"}',
  })
  const first = [change(10, 'queue-paused', 'logs'), change(11, 'key-created', 'key-1')]
  const others = Array.from({ length: 9 }, (_, n) => change(20 + n, 'rule-added', `rule_${n}`))
  // An entry that is stored twice counts once.
  await insertRows(owner, 'journal', [...first, ...others, ...others])
  const { url } = await startReaderPage(t)
  const { text } = await view(url, '/status')
  const [, table = ''] = text.split('aria-label="Changes"')
  t.equal(table.match(/rule-added/g)?.length, 9)
  t.match(table, /rule_8.*rule_0.*key-created.*shop-android.*key-1/s)
  t.match(table, /&#60;script&#62;x/)
  for (const absent of [hostile, 'queue-paused', 'of the operator']) t.notMatch(text, absent)
})

t.test('a reader without a right sees the page without what it is for', async (t) => {
  for (const table of ['alert_states', 'journal']) {
    await owner.command(`RENAME TABLE intake.${table} TO intake.away_${table}`)
    t.teardown(() => owner.command(`RENAME TABLE intake.away_${table} TO intake.${table}`))
  }
  const { url } = await startReaderPage(t)
  for (const path of [`/applications/${bundle_identifier}`, '/status']) {
    const { status, text } = await view(url, path)
    t.equal(status, 200)
    t.notMatch(text, /ClickHouse does not respond|aria-label="Changes"/)
  }
})

t.test('an application with too many events shows that its crashes are not counted', async (t) => {
  const asked: string[] = []
  const query = async <Row>(sql: string): Promise<Row[]> => (asked.push(sql), [])
  await readCrashes({ query, lines: async () => [] }, { from: 0 }, bundle_identifier)
  t.match(asked, [/SETTINGS max_rows_to_read = \d+$/], 'so it is refused before it is read')

  await owner.command('RENAME TABLE intake.crashes TO intake.away')
  t.teardown(() => owner.command('RENAME TABLE intake.away TO intake.crashes'))
  const { url } = await startReaderPage(t)
  const { text } = await view(url, `/applications/${bundle_identifier}`)
  t.match(text, /Crashes by stack trace.{0,200}Too many events.{0,80}queries#new-crashes/s)
})
