import t from 'tap'
import { until } from '@intake/test-kit/until'
import { startDevice } from './http-intake.ts'
import { startRedirecting } from './redirecting.ts'

for (const status of [301, 302, 303, 307, 308]) {
  t.test(`${status} is not followed, because the key would go along`, async (t) => {
    const { server, create } = await startDevice(t)
    const redirecting = await startRedirecting(t, status)
    const first = create({ url: redirecting.url, retryMs: { min: 20, max: 20 } })
    first.log('tap')
    await first.feedback({ text: 'Good', attachments: [{ data: Buffer.from('image') }] })
    const tries = (path: string) => redirecting.redirected.filter((one) => one === path).length
    await until('both were tried again', () =>
      ['/api/log/batch', '/api/feedback'].every((path) => tries(path) >= 3),
    )
    t.same(await first.shutdown({ timeoutMs: 0 }), { left: 2 }, 'both are kept')
    t.same(redirecting.followed, [])

    const second = create()
    t.same(await second.flush(), { left: 0 }, 'and sent when the address is right')
    t.equal(server.rows.size + server.feedback.length, 2)
  })
}
