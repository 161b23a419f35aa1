import t from 'tap'
import { headers, post, startGateway } from '../support.ts'

const operations = [
  ['/api/log', 'application/json'],
  ['/api/log/batch', 'application/json'],
  ['/api/feedback', 'multipart/form-data; boundary=b'],
] as const

for (const [url, type] of operations) {
  t.test(`${url}: key, rate, capacity, bytes and body are checked in this order`, async (t) => {
    const gateway = await startGateway(t, {
      env: { RATE_LIMIT_MAX: '4' },
      queueState: { memoryUsed: 1 },
    })
    const send = async (key: string, length: number) => {
      const more = { 'content-type': type, 'x-api-key': key, 'content-length': `${length}` }
      return (await post(gateway, url, 'broken', more)).json().code
    }
    const key = headers['x-api-key']
    const tooLarge = 10 ** 12
    t.equal(await send('wrong', tooLarge), 'unauthorized')
    t.equal(await send(key, tooLarge), 'queue_full', 'counts for the rate limit')
    gateway.state.memoryUsed = 0
    t.equal(await send(key, tooLarge), 'body_too_large')
    t.match(await send(key, 6), /^invalid_/)
    t.equal(await send('wrong', tooLarge), 'unauthorized', 'does not count for the rate limit')
    gateway.state.memoryUsed = 1
    t.equal(await send(key, 6), 'queue_full')
    t.equal(await send(key, tooLarge), 'rate_limited')
    t.equal(await send('wrong', tooLarge), 'unauthorized')
  })
}
