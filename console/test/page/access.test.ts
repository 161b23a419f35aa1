import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { icon } from '../../src/page/assets.ts'
import { basic, startPage, statusOf as statusAt } from './fixture.ts'

const statusOf = (port: number, headers: Record<string, string>, path = icon.path) =>
  statusAt(port, headers, path)

t.test('without a password only this machine gets the page, under a loopback name', async (t) => {
  const { port } = await startPage(t)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, '127.3.2.1', '[::1]:3002']) {
    t.equal(await statusOf(port, { host }), 200, host)
  }
  const foreign = ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', '10.0.0.1']
  for (const host of foreign) {
    t.equal(await statusOf(port, { host }), 403, host)
    t.equal(await statusOf(port, { host }, '/attachments/feedback/x'), 403, host)
  }
  for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host']) {
    t.equal(await statusOf(port, { [name]: '127.0.0.1' }), 403, name)
  }
})

t.test('without a password another address of this machine is refused', async (t) => {
  const { port } = await startPage(t, { host: '::' }).catch(() => startPage(t, { host: '0.0.0.0' }))
  t.equal(await statusOf(port, {}), 200, 'IPv4 on a socket for both')
})

t.test('with a password it is needed, and the user name is free', async (t) => {
  const { port } = await startPage(t, { password: 'pass:wörd' })
  t.equal(await statusOf(port, basic('pass:wörd')), 200)
  t.equal(await statusOf(port, { ...basic('pass:wörd', ''), host: 'intake.example' }), 200)
  for (const headers of [
    {},
    basic('pass'),
    basic('pass:wörd '),
    basic(''),
    { authorization: 'Basic' },
    { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
    { authorization: 'Bearer pass:wörd'.replace('ö', 'o') },
  ]) {
    t.equal(await statusOf(port, headers), 401, JSON.stringify(headers))
  }
})

t.test('401 asks the browser for a password, and health checks need none', async (t) => {
  const { url } = await startPage(t, { password: 'secret' })
  const response = await fetch(`${url}/`)
  t.equal(response.status, 401)
  t.match(response.headers.get('www-authenticate'), /^Basic realm="Intake"/)
  t.match(response.headers.get('content-security-policy'), "default-src 'none'")
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    t.equal((await fetch(url + path)).status, 200, path)
  }
})

t.test('429 after ten wrong passwords, and nobody tries an eleventh', async (t) => {
  const { port } = await startPage(t, { password: 'secret' })
  for (let n = 0; n < 10; n++) t.equal(await statusOf(port, basic(`guess ${n}`)), 401)
  t.equal(await statusOf(port, basic('secret')), 429)
})

t.test('429 of navigations from other sites leaves readers their own ten', async (t) => {
  const { port } = await startPage(t, { password: 'a secret of the test' })
  for (const site of ['cross-site', 'same-site']) {
    const navigation = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }
    const led = (password: string) => ({ ...basic(password), ...navigation })
    for (let n = 0; n < 10; n++) await statusOf(port, led(`guess ${n}`))
    t.equal(await statusOf(port, led('a secret of the test')), 429, site)
  }
  for (const site of ['none', 'same-origin']) {
    const own = { ...basic('a secret of the test'), 'sec-fetch-site': site }
    t.equal(await statusOf(port, own), 200, site)
  }
  t.equal(await statusOf(port, basic('a secret of the test')), 200, 'not a browser')
})

t.test('behind a trusted proxy wrong passwords are counted by the forwarded address', async (t) => {
  const from = (address: string, password: string) => ({
    ...basic(password),
    'x-forwarded-for': address,
  })
  for (const trustProxy of ['1', '10.0.0.0/8, 127.0.0.1']) {
    const { port } = await startPage(t, { password: 'secret', trustProxy })
    for (let n = 0; n < 10; n++) await statusOf(port, from(`192.0.2.${n}, 192.0.2.1:${n}`, 'guess'))
    t.equal(await statusOf(port, from('192.0.2.1', 'secret')), 429, trustProxy)
    t.equal(await statusOf(port, from('192.0.2.2', 'secret')), 200)
  }

  const direct = await startPage(t, { password: 'secret' })
  for (let n = 0; n < 10; n++) await statusOf(direct.port, from(`192.0.2.${n}`, 'guess'))
  const chosen = await statusOf(direct.port, from('192.0.2.99', 'secret'))
  t.equal(chosen, 429, 'nobody chooses an address')
})

t.test('wrong passwords are forgotten after a minute', async (t) => {
  let now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
  const { port } = await startPage(t, { password: 'secret' })
  for (let n = 0; n < 10; n++) await statusOf(port, basic('guess'))
  t.equal(await statusOf(port, basic('secret')), 429)
  now += 60_000
  t.equal(await statusOf(port, basic('secret')), 200)
})

t.test('429 after a hundred wrong passwords of all addresses', async (t) => {
  const { port } = await startPage(t, { password: 'secret', trustProxy: '127.0.0.1' })
  const from = (n: number, password: string) =>
    statusOf(port, { ...basic(password), 'x-forwarded-for': `10.1.0.${n}` })
  for (let n = 1; n <= 99; n++) await from(n, 'guess')
  t.equal(await from(101, 'secret'), 200)
  await from(100, 'guess')
  t.equal(await from(101, 'secret'), 429, 'also of an address that has tried none')
})

t.test('of several guesses in one packet, no more than ten are compared', async (t) => {
  const { port } = await startPage(t, { password: 'secret' })
  for (let n = 0; n < 9; n++) t.equal(await statusOf(port, basic(`guess ${n}`)), 401)
  // Four is the maximum number of requests that a connection may send before the first response.
  const guesses = Array.from({ length: 4 }, (_, n) =>
    [
      `GET ${icon.path} HTTP/1.1`,
      'host: 127.0.0.1',
      `authorization: ${basic(`pipelined ${n}`).authorization}`,
      ...(n === 3 ? ['connection: close'] : []),
      '\r\n',
    ].join('\r\n'),
  )
  const socket = connect(port, '127.0.0.1')
  socket.write(guesses.join(''))
  const responses = await text(socket)
  t.equal(responses.match(/HTTP\/1.1 401/g)?.length, 1)
  t.equal(responses.match(/HTTP\/1.1 429/g)?.length, 3)
})
