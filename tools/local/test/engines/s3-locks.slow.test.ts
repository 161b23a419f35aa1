import { createHash, createHmac } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openStore } from '@intake/test-kit/open-store'

import { startS3 } from '../../src/index.ts'
import { forEachItem, skip } from './clickhouse-of-test.ts'
import { type RawRequest, sendRaw, sign, statusOf } from './s3-requests.ts'

const word = 'canary4f1d'
const dataDir = createDataDir(t)
mkdirSync(join(dataDir, 'outside'))
// These files are outside the bucket. S3rver stores the content of an object in a file whose name
// ends in `._S3rver_object`.
for (const name of ['canary._S3rver_object', 'canary', 'outside/x._S3rver_object', 'outside/x'])
  writeFileSync(join(dataDir, name), word)
const filesOutside = () =>
  readdirSync(dataDir, { recursive: true })
    .map(String)
    .filter((name) => !name.startsWith('s3'))
    .toSorted()
    .map((name) => [name, name.includes('canary') && readFileSync(join(dataDir, name), 'utf8')])

const server = await startS3({ dataDir: join(dataDir, 's3'), port: 0, secretKey: 'secret-key' })
t.teardown(() => server.stop())
const { port } = server
const store = openStore(t, server.url)
const sha256 = createHash('sha256').update(word).digest('hex')
const object = { key: 'a/b.txt', body: Buffer.from(word), contentType: 'text/plain', sha256 }
await store.ensureBucket()
await store.put(object)
const outsideBefore = filesOutside()
const insideBefore = filesInside()

function filesInside() {
  const folder = join(dataDir, 's3/buckets')
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted((a, b) => a.localeCompare(b))
    .map((path) => [path, readFileSync(path, 'utf8')])
}

const owner = { accessKey: 'intake', secretKey: 'secret-key', port }

/**
 * Sends a request that the server must refuse: with a status 4xx, or by closing the connection.
 * Fails if the response contains the secret word, or a list of objects or buckets.
 */
async function refused(t: Test, request: RawRequest, what: string): Promise<void> {
  const response = await sendRaw(port, request)
  const isRefused = response === '' || statusOf(response).startsWith('4')
  if (!isRefused || /canary4f1d|<ListBucketResult|<ListAllMyBuckets|<Buckets>/.test(response))
    t.fail(`it is served: ${what}`, { response })
}

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'COPY']

/**
 * Paths that the server must refuse even with a correct signature: they lead out of the bucket, in
 * every encoding that S3rver, Koa or Node might decode, or are unusual spellings.
 */
const outside = [
  '/../../canary',
  '/..%2f..%2fcanary',
  '/%2e%2e/%2e%2e/canary',
  '/%252e%252e%252fcanary',
  '/..%5c..%5ccanary',
  '/intake/../../../canary',
  '/intake/%2e%2e%2f%2e%2e%2foutside/x',
  '/',
  '//intake/a/b.txt',
  '/intake/a/./b.txt',
  '/intake/a/b.txt%00',
  '/intake/a%2fb.txt',
  '/%2e%2e',
  '*',
  `http://127.0.0.1:${port}/..%2f..%2fcanary`,
  `/intake/${'a/'.repeat(1_000)}b`,
]
const inside = [
  '/intake',
  '/intake/a/b.txt',
  '/intake?list-type=2',
  '/intake/a/b.txt?acl',
  '/other',
]

const nothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const v4 = (accessKey: string, signature = 'a'.repeat(64)) =>
  `AWS4-HMAC-SHA256 Credential=${accessKey}/20261125/us-east-1/s3/aws4_request, ` +
  `SignedHeaders=host;x-amz-date, Signature=${signature}`
const now = () => new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
const dated = () => ({ 'x-amz-date': now(), 'x-amz-content-sha256': nothing })

/** Query parameters and headers that look like a signature but are not one. */
const pretences: { query?: string; headers?: () => Record<string, string> }[] = [
  {},
  { query: 'X-Amz-Signature=x' },
  { query: 'X-Amz-Algorithm=x', headers: () => ({ authorization: v4('intake'), ...dated() }) },
  { query: 'AWSAccessKeyId=intake&Expires=9999999999&Signature=x' },
  { headers: () => ({ authorization: 'AWS intake:x', ...dated() }) },
  { headers: () => ({ authorization: v4('__proto__'), ...dated() }) },
  { headers: () => ({ authorization: v4('intake', ''), ...dated() }) },
]

/**
 * Defines a test. At its end, it checks that no file, inside or outside the bucket, was added,
 * removed or changed.
 */
function test(title: string, work: (t: Test) => Promise<void>, options = {}) {
  t.test(title, options, async (t) => {
    await work(t)
    t.same(filesOutside(), outsideBefore, 'no file outside is changed')
    t.same(filesInside(), insideBefore, 'no object is changed')
  })
}

test('403: nothing is read, written or listed without a signature', async (t) => {
  const tries = methods.flatMap((method) =>
    [...outside, ...inside].flatMap((target) =>
      pretences.map(({ query, headers }) => ({ method, target, query, headers })),
    ),
  )
  await forEachItem(tries, async ({ method, target, query, headers }) => {
    const full = target + (query === undefined ? '' : `${target.includes('?') ? '&' : '?'}${query}`)
    const body = ['PUT', 'POST'].includes(method) ? 'changed' : ''
    const all = { 'content-length': `${body.length}`, ...headers?.() }
    const what = `${method} ${full.slice(0, 200)} ${JSON.stringify(all)}`
    await refused(t, { method, target: full, headers: all, body }, what)
  })
})

test('403: names that are not plain are refused in spite of a correct signature', async (t) => {
  const tries = methods.flatMap((method) => outside.map((target) => ({ method, target })))
  await forEachItem(tries, async ({ method, target }) => {
    for (const canonicalPath of [target, decoded(target)]) {
      const body = method === 'PUT' ? 'changed' : ''
      const headers = sign({ method, target, canonicalPath, body }, owner)
      await refused(t, { method, target, headers, body }, `${method} ${target.slice(0, 200)}`)
    }
  })
})

function decoded(target: string) {
  try {
    return decodeURIComponent(target)
  } catch {
    return target // not UTF-8
  }
}

test('403: what Intake does not use is refused in spite of a correct signature', async (t) => {
  const tries: [string, string, Record<string, string>?][] = [
    ['GET', '/'],
    ['DELETE', '/intake'],
    ['POST', '/intake?delete='],
    ['GET', '/intake?acl='],
    ['PUT', '/intake?policy='],
    ['GET', '/intake?prefix=..%2F..%2F'],
    ['GET', '/intake?marker=&prefix=%00'],
    ['POST', '/intake/a/b.txt?uploads='],
    ['PUT', '/intake/c', { 'x-amz-copy-source': '/../../canary' }],
    ['PUT', '/intake/c', { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }],
    ['PUT', '/intake/c', { 'x-amz-website-redirect-location': 'http://x' }],
    ['PUT', '/intake/c', { 'transfer-encoding': 'chunked' }],
    ['GET', '/intake/a/b.txt', { host: 'attacker.example' }],
    ['GET', '/a/b.txt', { host: 'intake.s3-website.amazonaws.com' }],
  ]
  await forEachItem(tries, async ([method, target, headers = {}]) => {
    const signed = sign({ method, target, headers }, owner)
    const what = `${method} ${target} ${JSON.stringify(headers)}`
    await refused(t, { method, target, headers: signed }, what)
  })
})

test('403: a web page gets no preflight, no form and no other name of the host', async (t) => {
  const boundary = 'x'
  const form = [
    `--${boundary}\r\nContent-Disposition: form-data; name="key"\r\n\r\n../../../canary\r\n`,
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nchanged\r\n`,
    `--${boundary}--\r\n`,
  ].join('')
  for (const query of ['', '?X-Amz-Signature=x', '?X-Amz-Algorithm=x']) {
    for (const type of [`multipart/form-data; boundary=${boundary}`, 'text/plain']) {
      const headers = {
        'content-type': type,
        'content-length': `${form.length}`,
        origin: 'http://x',
      }
      const request = { method: 'POST', target: `/intake${query}`, headers, body: form }
      await refused(t, request, `a form as ${type} ${query}`)
    }
    const preflight = {
      method: 'OPTIONS',
      target: `/intake/a/b.txt${query}`,
      headers: {
        origin: 'http://attacker.example',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization',
      },
    }
    const response = await sendRaw(port, preflight)
    t.equal(statusOf(response), '403')
    t.notMatch(response, /access-control/i)
  }
})

test('403: a signature that does not fit is refused, and an old one', async (t) => {
  const request = { method: 'GET', target: '/intake/a/b.txt' }
  const right = sign(request, owner)
  t.match(await sendRaw(port, { ...request, headers: right }), word, 'the right one is accepted')

  const key = createHmac('sha256', 'x').digest('hex')
  const [authorization = '', date = ''] = [right['authorization'], right['x-amz-date']]
  const second = date.endsWith('59Z') ? '58' : '59'
  const old = new Date(Date.now() - 16 * 60_000).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  for (const [what, headers] of Object.entries({
    'another key': sign(request, { ...owner, secretKey: 'other' }),
    'another user': sign(request, { ...owner, accessKey: 'other' }),
    'a key without secret': sign(request, { ...owner, secretKey: '' }),
    'another signature': { ...right, authorization: authorization.replace(/[\da-f]{64}$/, key) },
    'a list of no headers': {
      ...right,
      authorization: authorization.replace(/(?<=SignedHeaders=)[^,]+/, 'host'),
    },
    'another time': { ...right, 'x-amz-date': `${date.slice(0, -3)}${second}Z` },
    'an old time': { ...right, 'x-amz-date': old },
    'another hash of the body': { ...right, 'x-amz-content-sha256': key },
    'another host': { ...right, host: `localhost:${port}` },
    'another object': sign({ ...request, target: '/intake/a/c.txt' }, owner),
    'another method': sign({ ...request, method: 'PUT' }, owner),
  })) {
    await refused(t, { ...request, headers }, what)
  }
})

test('403: an unknown access key is named as the reason, as other stores do', async (t) => {
  const refusalOf = async (accessKey: string) => {
    const request = { method: 'GET', target: '/intake/a/b.txt' }
    return sendRaw(port, { ...request, headers: sign(request, { ...owner, accessKey }) })
  }
  t.match(await refusalOf('unknown'), '<Code>InvalidAccessKeyId</Code>')
})

t.test('the process can open only its own files', { skip }, async (t) => {
  const link = join(dataDir, 's3/buckets/intake/link')
  symlinkSync(join(dataDir, 'outside'), link)
  const request = { method: 'GET', target: '/intake/link/x' }
  const response = await sendRaw(port, { ...request, headers: sign(request, owner) })
  t.equal(statusOf(response), '500')
  t.notMatch(response, word)
  const put = { method: 'PUT', target: '/intake/link/new', body: 'changed' }
  t.equal(statusOf(await sendRaw(port, { ...put, headers: sign(put, owner) })), '500')
  t.same(filesOutside(), outsideBefore)
})
