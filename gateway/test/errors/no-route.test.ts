import t from 'tap'
import { startGateway } from '../support.ts'

t.test('404 names /docs, and the path that is probably meant', async (t) => {
  const { app } = await startGateway(t)
  const cases = [
    ['/', undefined],
    ['/api', undefined],
    ['/secret-path', undefined],
    ['/api/logs', '/api/log'],
    ['/api/log/', '/api/log'],
    ['/log', '/api/log'],
    ['/api/api/log?a=b', '/api/log'],
    ['/API/Logs/Batches', '/api/log/batch'],
    ['/feedbacks', '/api/feedback'],
    ['/doc', '/docs'],
  ] as const
  for (const [url, meant] of cases) {
    const { detail, status } = (await app.inject({ url })).json()
    t.equal(status, 404, url)
    t.equal(
      detail,
      `There is nothing at this path${meant === undefined ? '.' : `: did you mean ${meant}?`}` +
        ' The documentation is at /docs.',
    )
  }
})
