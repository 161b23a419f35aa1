import { request } from 'node:http'
import t from 'tap'
import { addFault, readRecords, sendLog, startSandbox } from './support.ts'

/** Sends a request with fields that `fetch` would replace; resolves to the status and the body. */
const ask = (
  url: string,
  options: { method?: string; headers: Record<string, string>; body?: string },
): Promise<{ status: number | undefined; text: string }> =>
  new Promise((resolve, reject) => {
    const { method = 'GET', headers, body } = options
    const sent = request(url, { method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode, text }))
    })
    sent.on('error', reject).end(body)
  })

const own = { host: '127.0.0.1' }

t.test('403 for web pages of other origins, and for other names of this machine', async (t) => {
  const sandbox = await startSandbox(t)
  await sendLog(sandbox)
  const foreign = [
    { ...own, origin: 'https://evil.example' },
    { ...own, origin: 'null' },
    { ...own, origin: 'http://localhost.evil.example:3000' },
    { ...own, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { host: 'evil.example' },
    { host: 'evil.example', origin: 'http://evil.example' },
    { host: '127.0.0.1.evil.example:3100' },
  ]
  for (const headers of foreign) {
    for (const path of ['/_sandbox/records', '/api/log', '/docs']) {
      const refused = await ask(sandbox.url + path, { headers })
      t.equal(refused.status, 403, JSON.stringify(headers))
      t.match(JSON.parse(refused.text), { code: 'origin_not_allowed', detail: /--origin/ })
      t.notMatch(refused.text, 'evil')
    }
    const body = '{"status":401,"times":1000000}'
    const fault = { method: 'POST', headers: { ...headers, 'content-type': 'text/plain' }, body }
    t.equal((await ask(`${sandbox.url}/_sandbox/faults`, fault)).status, 403)
    t.equal((await ask(`${sandbox.url}/_sandbox`, { method: 'DELETE', headers })).status, 403)
  }
  t.same(sandbox.faults(), [])
  t.equal((await readRecords(sandbox)).length, 1)
})

t.test('a foreign page does not use up a fault', async (t) => {
  const sandbox = await startSandbox(t)
  await addFault(sandbox, { status: 503 })
  const headers = { ...own, origin: 'https://evil.example' }
  await ask(`${sandbox.url}/api/log`, { method: 'POST', headers, body: '{}' })
  t.equal((await sendLog(sandbox)).status, 503)
})

t.test('200 for pages of this machine, for an emulator, and for --origin', async (t) => {
  const { url } = await startSandbox(t, {
    origins: ['http://app.example:*', 'http://sandbox:3100'],
  })
  for (const headers of [
    { ...own, origin: 'http://localhost:5173' },
    { ...own, origin: 'http://[::1]:8080' },
    { ...own, origin: 'http://127.0.0.1' },
    { ...own, origin: 'http://app.example:81' },
    { ...own, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' },
    { ...own, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    { host: 'LOCALHOST:3100' },
    { host: '10.0.2.2:3100' },
    { host: 'sandbox:3100' },
    { host: 'app.example' },
  ]) {
    const { status } = await ask(`${url}/_sandbox/records`, { headers })
    t.equal(status, 200, JSON.stringify(headers))
  }
})
