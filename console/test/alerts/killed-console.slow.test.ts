import t from 'tap'
import { createAlertStore } from '@intake/access'
import { claimInstallation } from '@intake/redis'
import { startApp } from '@intake/test-kit/app'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { startWebhookReceiver } from '@intake/test-kit/webhook-receiver'
import { createIntake } from '../../../tools/cli/test/in-process.ts'
import { atTime, insertRows, logRow, startServer } from '../../../packages/schema/test/fixture.ts'

const dataDir = createDataDir(t)
const { server, connect } = await startServer(t)
const owner = connect(t)
const { url: redisUrl } = await ownRedis(t)
const redis = openRedis(t, { url: redisUrl })
await claimInstallation(redis, 'installation of the test')

const { url, accepted: messages, close } = await startWebhookReceiver()
t.teardown(close)

const startConsole = () =>
  startApp(t, 'console', {
    dataDir,
    env: {
      REDIS_URL: redisUrl,
      CLICKHOUSE_URL: server.workerUrl,
      PAGE_CLICKHOUSE_URL: server.readerUrl,
      FEEDBACK_WEBHOOKS: JSON.stringify([
        { bundle: 'com.example.*', url, secret: 'a secret of the test' },
      ]),
    },
  })

const intake = createIntake({
  cwd: dataDir,
  env: { REDIS_URL: redisUrl, CLICKHOUSE_URL: server.url },
})
const ended = (stdout: string) => ({ code: 0, stdout, stderr: '' })

/** Lets a console evaluate that has just started, although the turn of another is not over. */
const endTurn = () => redis.del('{intake}:alerts:turn')
const stateOf = async (id: string) => {
  const [row] = await owner.query<{ state: string }>(
    `SELECT state FROM intake.alert_states WHERE id = '${id}'`,
  )
  return row?.state
}

t.test('an alert that fires while consoles are killed is one message', async (t) => {
  const alerts = createAlertStore({ redis, who: 'test' })
  const add = async (event: string) => {
    await insertRows(owner, 'logs', [logRow({ ...atTime(Date.now() - 5_000), event })])
    const watermark = { kind: 'logs', visible_until: new Date().toISOString() }
    await insertRows(owner, 'watermark', [watermark])
    const alert = await alerts.add({
      bundle: 'com.example.app',
      event,
      versionName: '',
      condition: 'above',
      threshold: 0,
      unit: 'events',
      minutes: 60,
    })
    return alert!.id
  }

  const first = await add('crash')
  const killed = await startConsole()
  await until('the state is stored', async () => (await stateOf(first)) === 'firing')
  await killed.kill()

  for (const event of ['two', 'three']) {
    // Its message comes after that of the first alert was announced again.
    const next = await add(event)
    await endTurn()
    const another = await startConsole()
    await until('the next alert is told', () => messages.has(`${next}-1`))
    await until('the first alert is told', () => messages.has(`${first}-1`))
    if (event !== 'three') await another.kill()
  }
  t.equal(await stateOf(first), 'firing')
  const ofFirst = [...messages.keys()].filter((id) => id.startsWith(first))
  t.same(ofFirst, [`${first}-1`])
  t.equal(messages.size, 3, 'one message for each alert')

  // The last console still runs.
  const shown = await intake(['alerts', 'show', first])
  t.match(shown.stdout, /--event crash --above 0 --in 1h\nfiring since .*\t1 in the window\n/)
  t.same(await intake(['alerts', 'test', first]), ended('The receiver has taken it.\n'))
  t.match([...messages.keys()].at(-1), new RegExp(`^${first}-test\\d+$`))
  const other = ['--bundle', 'com.other', '--event', 'a', '--below', '1', '--in', '90m']
  const added = await intake(['alerts', 'add', ...other, '--json'])
  const { id } = JSON.parse(added.stdout) as { id: string }
  t.match((await intake(['alerts', 'list'])).stdout, `${id}\t${other.join(' ')}`)
  t.match((await intake(['alerts', 'test', id])).stderr, 'It could not be sent: ')
  t.same(await intake(['alerts', 'remove', id]), ended(`Removed ${id}.\n`))
  t.match(await intake(['alerts', 'remove', id]), { code: 1, stderr: /There is no alert/ })
  const journal = await intake(['journal'])
  t.match(journal.stdout, new RegExp(`alert-added\t${id}.*\n.*alert-removed\t${id}`))
})
