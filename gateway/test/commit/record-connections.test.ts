import t from 'tap'
import { claimInstallation, mainTag } from '@intake/redis'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { openRecordConnections } from '../../src/commit/record-connections.ts'

const lost = { message: 'Redis belongs to no installation' }
const call = {
  keys: ['{intake:00}:logs:0:00'],
  firstDay: 0,
  levels: 1,
  field: Buffer.from('field'),
  value: Buffer.from('value'),
  mayWrite: true,
  keptDays: 1,
}

for (const replicas of [0, 1]) {
  t.test(`nothing is written to a Redis without a mark (${replicas} replicas)`, async (t) => {
    const server = await ownRedis(t)
    const [operator, redis] = (['consumer', 'producer'] as const).map((role) => {
      const opened = openRedis(t, server, role)
      return opened
    })
    let refusal: string | undefined
    const connections = openRecordConnections({
      redis: redis!,
      url: server.url,
      replicas,
      tags: [mainTag],
      refusalOf: () => refusal,
      onError: () => {},
    })
    t.teardown(() => connections.close())
    const { logs, feedback, outcomes } = connections
    await until('all are connected', () =>
      [logs, feedback, outcomes].every((one) => one.redis.status === 'ready'),
    )
    for (const one of [logs, feedback, outcomes]) await t.rejects(one.requireExamined(), lost)
    await until('the reservations are refused', () =>
      connections.reserve(call).then(
        () => t.fail('it was reserved'),
        ({ message }: Error) => message === lost.message,
      ),
    )
    t.equal(await operator!.dbsize(), 0)

    await claimInstallation(operator!, 'one')
    for (const one of [logs, feedback, outcomes]) await one.requireExamined()
    refusal = lost.message
    for (const one of [logs, feedback, outcomes]) await t.rejects(one.requireExamined(), lost)
    await t.rejects(connections.reserve(call), lost)
  })
}
