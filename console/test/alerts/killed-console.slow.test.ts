import t from 'tap'
import { createAlertStore, createWaitingEntries } from '@intake/access'
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

const { url, accepted: messages, treat, close } = await startWebhookReceiver()
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

t.test('what a killed console could not send is one message of the next', async (t) => {
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
  treat('failed')
  const killed = await startConsole()
  await until('its message has failed', () =>
    killed.log.some(({ msg }) => msg === 'a webhook request failed; it will be repeated'),
  )
  await killed.kill()
  treat('accepted')
  // The next console evaluates at once, although the turn of the killed one is not over. It
  // announces the first alert again, before the second.
  await redis.del('{intake}:alerts:turn')
  const second = await add('two')
  await startConsole()
  await until('both alerts are told', () => messages.size === 2)
  t.same(Object.fromEntries(messages), { [`${first}-1`]: 1, [`${second}-1`]: 1 })

  const shown = await intake(['alerts', 'show', first])
  t.match(shown.stdout, /--event crash --above 0 --in 1h\nfiring since .*\t1 in the window\n/)
  t.match(await intake(['alerts', 'test', first]), { code: 0 })
  await until('it is sent', () => [...messages.keys()].at(-1)?.startsWith(`${first}-test`))
  const other = ['--bundle', 'com.other', '--event', 'a', '--below', '1', '--in', '90m']
  const added = await intake(['alerts', 'add', ...other])
  const [, id = ''] = /^Added (alert_\w+)/.exec(added.stdout) ?? []
  t.match((await intake(['alerts', 'list'])).stdout, `${id}\t${other.join(' ')}`)
  t.same(await intake(['alerts', 'remove', id]), ended(`Removed ${id}.\n`))
  t.match(await intake(['alerts', 'remove', id]), { code: 1, stderr: /There is no alert/ })
  const entries = await createWaitingEntries({ redis }).peek(100)
  const changes = entries.map((row) => JSON.parse(row) as { action: string; subject: string })
  t.match(
    changes.filter(({ subject }) => subject === id),
    [{ action: 'alert-added' }, { action: 'alert-removed' }],
  )
})
