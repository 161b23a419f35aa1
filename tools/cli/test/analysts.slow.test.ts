import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { noteErasure, type Manifest } from '@intake/records'
import { readEndpoints } from '@intake/runtime/endpoints'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { startStack } from '@intake/test-kit/running-stack'
import { until } from '@intake/test-kit/until'
import t, { type Test } from 'tap'
import { createIntake } from './in-process.ts'
import { logRow, member } from '../../../packages/schema/test/fixture.ts'

const dataDir = createDataDir(t)
const { endpoints, clickhouse: owner } = await startStack(t, { dataDir })
const { port } = new URL(endpoints.clickhouse)
const intake = createIntake({ cwd: dataDir, env: { INTAKE_DATA_DIR: dataDir } })

const setUpAgain = () => intake(['setup'])
const pidOfClickHouse = () => readEndpoints(dataDir)?.pids.clickhouse ?? null
/** As when `npm start` is started again: ClickHouse reads the users, and setup defines the views. */
const startAgain = async () => {
  const before = pidOfClickHouse()
  process.kill(before!, 'SIGKILL')
  await until('ClickHouse has started again', () => {
    const pid = pidOfClickHouse()
    return pid !== null && pid !== before
  })
  return setUpAgain()
}
const connect = (t: Test, url: string) => {
  const clickhouse = openClickHouse(t, { url })
  return clickhouse
}

t.test(
  'an analyst of npm start can log in, and a change holds, when it was started again',
  async (t) => {
    const scope = '--bundle com.other --without email,text --pseudonym unique_user_id'.split(' ')
    const created = await intake(['analysts', 'create', 'mobile', ...scope, '--json'])
    t.match(created, { code: 0, stderr: /npm start has been started again\. With file\(\)/ })
    const login = JSON.parse(created.stdout) as Record<'user' | 'password' | 'database', string>
    t.match(login, { user: 'intake_mobile', database: 'intake_mobile' })

    t.match(await startAgain(), { stdout: /applied analyst mobile/, stderr: '' })
    const rows = [logRow(), logRow({ bundle_identifier: 'com.other' })]
    await owner.insertRows({ table: 'logs', members: [member(rows)], rows: 2 })
    const mine = connect(
      t,
      `http://${login.user}:${login.password}@127.0.0.1:${port}/intake_mobile`,
    )
    const bundles = () => mine.query('SELECT bundle_identifier AS bundle FROM logs')
    t.same(await bundles(), [{ bundle: 'com.other' }])
    t.match(await intake(['analysts', 'set', 'mobile', '--bundle', 'com.example.app']), {
      code: 0,
      stderr: /started again/,
    })
    await startAgain()
    t.same(await bundles(), [{ bundle: 'com.example.app' }])
    await until('its entry is in the journal', async () => {
      const { stdout } = await intake(['journal', '--json'])
      const { action, detail } = JSON.parse(stdout).at(-1)
      return action === 'analyst-set' && detail.bundles.join() === 'com.example.app'
    })
    t.same((await intake(['doctor'])).stdout.match(/analyst .*/gi), null)
    await owner.command('DROP VIEW intake_mobile.sessions')
    t.match(
      (await intake(['doctor'])).stdout,
      /Analyst mobile: not as defined: the view intake_mobile\.sessions /,
    )
    t.match(await setUpAgain(), { stdout: /applied analyst mobile/, stderr: '' })
    t.notMatch(await setUpAgain(), { stdout: /analyst/ })
  },
)

t.test('list and show print what was defined, and never the password', async (t) => {
  t.match(await intake(['analysts', 'list']), {
    stdout: 'intake_mobile\tcom.example.app\temail text\tunique_user_id\n',
  })
  const { stdout } = await intake(['analysts', 'show', 'mobile'])
  t.match(stdout, /^-- \{.*"bundles":\["com\.example\.app"\].*\n/)
  t.match(stdout, /CREATE USER IF NOT EXISTS `intake_mobile`.*;\n/)
  const xml = (await intake(['analysts', 'show', 'mobile', '--xml'])).stdout
  t.match(xml, /^<clickhouse>[^]*<filter>bundle_identifier IN \('com\.example\.app'\)<\/filter>/)
})

t.test('an export for an analyst has only what the analyst sees', async (t) => {
  const to = join(dataDir, 'lake')
  const dropped = ['com.example.app', 'com.other'].map((bundleIdentifier) => ({
    kind: 'logs',
    bundleIdentifier,
    month: '202610',
    before: '2026-10-31T00:00:00.000Z',
  }))
  await noteErasure(owner, {
    id: randomUUID(),
    kind: 'retention',
    subjectHash: '',
    startedAt: new Date(),
    finishedAt: undefined,
    report: JSON.stringify({ applications: dropped }),
  })
  const made = await until('the watermark has passed the record', async () => {
    const ended = await intake(['export', '--to', to, '--analyst', 'mobile'])
    return ended.stdout !== 'Nothing to export.\n' && ended
  })
  t.match(made, { code: 0, stdout: /^1 record in / })
  t.match(await intake(['export', '--to', to, '--verify']), { code: 0 })
  const manifest = JSON.parse(readFileSync(join(to, 'manifests/1.json'), 'utf8')) as Manifest
  t.match(manifest.dropped, [{ bundle_identifier: 'com.example.app' }])
  t.equal(manifest.dropped?.length, 1)
})

t.test('wrong input changes nothing and says what is right', async (t) => {
  const wrong: [string[], RegExp][] = [
    [['create', 'mobile', '--bundle', 'x'], /There is an analyst mobile/],
    [['create', 'Mobile', '--bundle', 'x'], /A name has 1 to 31 characters/],
    [['create', 'dbt', '--bundle', 'x'], /not dbt/],
    [['create', 'a'], /--bundle/],
    [['create', 'a', '--bundle', '*'], /a beginning like com\.example\.\*/],
    [['create', 'a', '--bundle', 'x', '--without', 'params.email'], /Choose from unique_user_id/],
    [['create', 'a', '--bundle', 'x', '--without', 'time'], /Choose from unique_user_id/],
    [['create', 'a', '--bundle', 'x', '--pseudonym', 'text'], /Choose from .*, email\./],
    [['set', 'nobody', '--bundle', 'x'], /There is no analyst nobody/],
    [['set', 'mobile'], /There is nothing to change/],
  ]
  for (const [args, stderr] of wrong) {
    t.match(await intake(['analysts', ...args]), { code: 1, stdout: '', stderr }, args.join(' '))
  }
  const json = (await intake(['analysts', 'list', '--json'])).stdout
  const names = (JSON.parse(json) as { name: string }[]).map(({ name }) => name)
  t.same(names, ['mobile'])
})

t.test('a server whose owner may not make users prints what an administrator runs', async (t) => {
  const env = {
    REDIS_URL: endpoints.redis,
    CLICKHOUSE_URL: endpoints.clickhouse,
    INTAKE_DATA_DIR: join(dataDir, 'elsewhere'),
  }
  const create = ['analysts', 'create', 'web', '--bundle', 'com.web']
  t.match(await intake(create, env), { code: 0, stderr: /An administrator runs the SQL/ })
  t.match(
    (await intake(['analysts', 'show', 'web'], env)).stdout,
    /CREATE USER IF NOT EXISTS `intake_web-definer`[^]*GRANT SELECT ON intake_web\.\*/,
  )
  const onCluster = await intake(['analysts', 'show', 'web'], {
    ...env,
    CLICKHOUSE_CLUSTER: 'fleet',
  })
  t.match(onCluster.stdout, /CREATE USER IF NOT EXISTS `intake_web` ON CLUSTER 'fleet' /)
  t.match(onCluster.stdout, /CREATE ROW POLICY .* ON CLUSTER 'fleet' ON intake\.logs_raw_local /)
  t.match(await intake(['analysts', 'remove', 'web'], env), {
    code: 0,
    stdout: 'Removed intake_web.\n',
  })
})

t.test('a new password replaces the old one, and remove removes views and users', async (t) => {
  t.match(await intake(['analysts', 'password', 'mobile']), {
    code: 0,
    stdout: /password\t\S{32}\n/,
  })
  t.match(await intake(['analysts', 'remove', 'mobile']), {
    code: 0,
    stdout: 'Removed intake_mobile.\n',
  })
  const databases = await owner.query("SELECT name FROM system.databases WHERE name LIKE 'intake%'")
  t.same(databases, [{ name: 'intake' }])
  t.notOk(existsSync(join(dataDir, 'clickhouse/config/users.d/intake_mobile.xml')))
  t.match(await intake(['analysts', 'list']), {
    stdout: '',
    stderr: 'There are no analysts.\n',
  })
})
