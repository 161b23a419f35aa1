import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { BrowserContextOptions } from 'playwright-core'
import t from 'tap'
import { readEndpoints } from '@intake/runtime/endpoints'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startStack } from '@intake/test-kit/running-stack'
import { until } from '@intake/test-kit/until'
import { startBrowser } from '../../../console/test/page/tab.ts'
import { inventHistory } from '../src/demo/history.ts'
import { createIntake } from './in-process.ts'
import { createIntakeProcess, startIntake } from './services.ts'

t.test('the past has the number of events asked for, within the days', async (t) => {
  const options = { events: 700, days: 7, now: Date.UTC(2026, 10, 29) }
  const all = inventHistory(options).flatMap(({ events }) => events)
  t.equal(all.length, 700)
  t.ok(all.every(({ at }) => at <= options.now && at >= options.now - 7 * 86_400_000))
})

t.test('intake demo against npm start, and its removal', async (t) => {
  const dataDir = createDataDir(t)
  const { clickhouse } = await startStack(t, { dataDir })
  const operator = { cwd: dataDir, env: { INTAKE_DATA_DIR: dataDir } }
  const intake = createIntake(operator)
  const query = <Row>(sql: string) => clickhouse.query<Row>(sql)

  await t.test('what it planted can be found', async (t) => {
    const sent = await createIntakeProcess(operator)(['demo', '--events', '1500', '--days', '7'])
    t.match(sent, { code: 0, stdout: /^Sent 1500 log events and \d+ feedback with pictures/ })
    await until('everything is stored', async () => {
      const [row] = await query<{ n: string }>('SELECT count() AS n FROM intake.logs')
      return Number(row?.n) === 1500
    })
    t.match(
      await query(`SELECT bundle_identifier AS app, arraySort(groupUniqArray(assumeNotNull(device.version_name))) AS versions,
          max(time) < now('UTC') - INTERVAL 12 HOUR AS silent
        FROM intake.logs GROUP BY app ORDER BY app`),
      [
        { app: 'com.example.demo.fitness', versions: ['1.8.2', '1.9.0'], silent: 0 },
        { app: 'com.example.demo.notes', versions: ['3.7.1', '4.0.0'], silent: 1 },
        { app: 'com.example.demo.shop', versions: ['2.4.0', '2.5.0'], silent: 0 },
      ],
    )
    t.match(
      await query(`SELECT DISTINCT device.version_name AS version FROM intake.logs
        WHERE event = 'crash' AND params.reason.:String LIKE 'NullPointer%'`),
      [{ version: '2.5.0' }],
    )
    t.match(
      await query(`SELECT arraySort(groupUniqArray(dynamicType(params.duration))) AS types
        FROM intake.logs WHERE event = 'workout_finished'`),
      [{ types: ['Int64', 'String'] }],
    )
    const [pictures] = await query<{ n: number }>(
      'SELECT toUInt32(countIf(length(attachments) = 1)) AS n FROM intake.feedback',
    )
    t.ok(pictures!.n >= 3)
    const isNoticed = async () => {
      await intake(['catalogue', 'refresh'])
      return (await query(`SELECT 1 FROM intake.warnings WHERE path LIKE '%to%'`)).length > 0
    }
    await until('the e-mail address is noticed', isNoticed, { everyMs: 1_000 })
  })

  const { page } = readEndpoints(dataDir)!
  await t.test('the page shows what it planted', async () => {
    const read = async () => (await fetch(`${page}/?all`)).text()
    const planted = [/crash/, /demo\.notes/, /workout_finished/, /note_shared/]
    await until('the page shows all', async () => {
      const [, findings = ''] = (await read()).split('Look at this')
      return planted.every((one) => one.test(findings))
    })
  })

  // PICTURES names a folder for the pictures of the documents, such as docs/images.
  const { PICTURES } = process.env
  const browser = PICTURES === undefined ? undefined : await startBrowser(t)
  if (browser !== undefined) {
    const picture = async (name: string, path: string, options: BrowserContextOptions) => {
      const tab = await browser.newPage({ reducedMotion: 'reduce', ...options })
      await tab.goto(`${page}${path}`)
      const seen =
        '[...document.images].filter((one) => one.src && one.getBoundingClientRect().top < innerHeight)'
      const areLoaded = `${seen}.every((one) => one.complete && one.naturalWidth > 0)`
      await until('the pictures are loaded', () => tab.evaluate<boolean>(areLoaded))
      await tab.screenshot({ path: join(PICTURES!, `page-${name}.png`) })
      await tab.close()
    }
    const [width, wide] = [1280, { width: 1280, height: 640 }]
    const [shown] = await query<{ id: string }>(
      `SELECT id FROM intake.feedback WHERE bundle_identifier LIKE '%.shop' ORDER BY time DESC LIMIT 1`,
    )
    await picture('overview', '/?period=7d', { viewport: { width, height: 800 } })
    await picture('record', `/feedback/${shown?.id}`, { viewport: wide })
    await picture('live', '/live', { viewport: wide, colorScheme: 'dark' })
    await picture('phone', '/events?period=7d', { viewport: { width: 390, height: 780 } })
    t.match(await intake(['queue', 'pause', '--kind', 'logs']), { code: 0 })
    const headers = { accept: 'text/html' }
    const status = async () => (await fetch(`${page}/status`, { headers })).text()
    await until('the page knows', async () => (await status()).includes('<b>paused</b>'))
    await picture('status', '/status', { viewport: wide })
    t.match(await intake(['queue', 'resume', '--kind', 'logs']), { code: 0 })
  }

  await t.test('--live goes on until a signal', async (t) => {
    const args = ['demo', '--events', '20', '--days', '1', '--live', '--rate', '20']
    const { child, exited } = startIntake(t, args, { INTAKE_DATA_DIR: dataDir })
    const stdout = text(child.stdout)
    await until('live events are stored', async () => {
      const [row] = await query<{ n: string }>(
        `SELECT count() AS n FROM intake.logs WHERE unique_user_id = 'demo-live'`,
      )
      return Number(row?.n) > 5
    })
    child.kill('SIGINT')
    t.same(await exited, [0, null])
    t.match(await stdout, /^Sent \d+ events live\.$/m)
  })

  await t.test('--remove without --yes only counts', async (t) => {
    const { code, stdout } = await intake(['demo', '--remove'])
    t.equal(code, 3)
    t.match(stdout, /^\d+ records of demos are stored\. Nothing is removed: add --yes\.$/m)
  })

  await t.test('--remove --yes leaves nothing', async (t) => {
    const removed = await intake(['demo', '--remove', '--yes'])
    t.match(
      removed,
      { code: 0, stdout: /^Removed 1\d{3} log events, \d+ feedback and \d+ objects/ },
      removed.stderr,
    )
    t.match(removed.stdout, 'Revoked the API keys of demos.')
    for (const view of ['logs', 'feedback', 'devices', 'hours', 'catalogue', 'warnings']) {
      t.same(await query(`SELECT * FROM intake.${view} LIMIT 1`), [], view)
    }
    t.match(await intake(['demo', '--remove', '--yes']), { stdout: 'There is no demo.\n' })
  })

  t.test('without a stack it asks for --url', async (t) => {
    const env = { INTAKE_DATA_DIR: join(dataDir, 'none'), REDIS_URL: readEndpoints(dataDir)!.redis }
    t.match(await intake(['demo'], env), { code: 1, stderr: /give --url/ })
    const nobody = ['demo', '--url', 'http://127.0.0.1:9']
    t.match(await intake(nobody, env), { code: 1, stderr: /does not respond/ })
  })
})
