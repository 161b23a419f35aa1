import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { acceptsGzip } from '../../src/routes/prepared.ts'
import { startGateway } from '../support.ts'

const paths = ['/docs', '/openapi.json']
const gzip = { 'accept-encoding': 'gzip, br' }

t.test('200 without a key, compressed for those who accept it', async (t) => {
  const { app } = await startGateway(t)
  for (const url of paths) {
    const plain = await app.inject({ url })
    t.equal(plain.statusCode, 200)
    t.equal(plain.headers['content-encoding'], undefined)
    const compressed = await app.inject({ url, headers: gzip })
    t.equal(compressed.headers['content-encoding'], 'gzip')
    t.equal(gunzipSync(compressed.rawPayload).toString(), plain.body)
    for (const { headers } of [plain, compressed]) {
      t.equal(headers['vary'], 'Accept-Encoding')
      t.equal(headers['x-content-type-options'], 'nosniff')
    }
  }
})

t.test('HEAD has the headers of GET and no body', async (t) => {
  const { app } = await startGateway(t)
  for (const url of paths) {
    for (const headers of [{}, gzip]) {
      const get = await app.inject({ method: 'GET', url, headers })
      const head = await app.inject({ method: 'HEAD', url, headers })
      t.equal(head.body, '')
      const { date: _, connection: __, ...expected } = get.headers
      t.match(head.headers, { ...expected, 'content-length': String(get.rawPayload.length) })
    }
  }
})

t.test('405 for other methods, as everywhere', async (t) => {
  const { app } = await startGateway(t)
  for (const url of paths) {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
      const refused = await app.inject({ method, url, payload: 'a' })
      t.match(refused.json(), { status: 405, code: 'method_not_allowed' })
      t.equal(refused.headers['allow'], 'GET, HEAD')
    }
  }
})

t.test('gzip is accepted where it is named with a weight above zero', async (t) => {
  const accepted = ['gzip', 'br, GZIP', 'gzip;q=0.5', 'deflate;q=0, gzip ; q=1.0, br']
  const not = [undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.000, br', 'x-gzip', 'gzipped']
  for (const header of accepted) t.equal(acceptsGzip(header), true, header)
  for (const header of not) t.equal(acceptsGzip(header), false, String(header))
})

t.test('the policy of the page allows nothing but its own style and script', async (t) => {
  const { app } = await startGateway(t)
  const { headers, body } = await app.inject('/docs')
  t.equal(headers['content-type'], 'text/html; charset=utf-8')
  const policy = String(headers['content-security-policy'])
  t.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; script-src 'sha256-[\w+/]{43}='; base-uri 'none'; /,
  )
  t.equal(body.match(/<script/g)?.length, 1)
  t.notMatch(body, /javascript:|\son\w+=|\sstyle=|<iframe|<form|<img|<link|src=/i)
  const targets = [...body.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target)
  const anchors = new Set([...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => `#${id}`))
  const outside = targets.filter((target) => !anchors.has(target))
  t.same(outside, ['openapi.json'])
})

t.test('the page has at most 40 KB, compressed', async (t) => {
  const page = readFileSync(new URL('../../docs.html', import.meta.url))
  const bytes = gzipSync(page, { level: 9 }).length
  t.ok(bytes <= 40_000, `${bytes} bytes`)
})

t.test('the page and the document name the address of the setting', async (t) => {
  const url = "https://example.com/i'&$&"
  const { app } = await startGateway(t, { env: { PUBLIC_URL: url } })
  const { body } = await app.inject('/docs')
  t.match(body, 'curl https://example.com/i&#39;&#38;&#36;&#38;/api/log ')
  t.notMatch(body, '127.0.0.1')
  t.match((await app.inject('/openapi.json')).json(), { servers: [{ url }] })
})
