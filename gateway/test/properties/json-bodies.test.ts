import { gzipSync, gunzipSync } from 'node:zlib'
import { parseLossless } from '@intake/json'
import * as fc from 'fast-check'
import t, { type Test } from 'tap'
import { logBody, startGateway, sendLog, sender } from '../support.ts'
import { anyFaults, damage, exchange, isRefused, startServer } from './exchange.ts'
import { jsonText } from './json-text.ts'
import { checkProperty } from './property.ts'
import { expectEqual, takeRows, wellFormed } from './stored.ts'

interface Entry {
  event: string
  params?: unknown
}
interface Submission {
  log: Entry
  logs: Entry[]
}

const requests = fc.record({
  params: fc.array(jsonText, { minLength: 1, maxLength: 3 }),
  isBatch: fc.boolean(),
  faults: anyFaults,
  cuts: fc.array(fc.nat(), { maxLength: 5 }),
  chunked: fc.boolean(),
})

const gzipped = { 'content-encoding': 'gzip' }

/**
 * Sends bodies that `bodyOf` makes from JSON, some of them damaged. Compares the stored rows with
 * the JSON that `jsonOf` reads from the body that was sent.
 */
async function checkBodies(
  t: Test,
  options: {
    runs: number
    encoding: Record<string, string>
    bodyOf: (json: string) => Buffer
    jsonOf: (body: Buffer) => string
  },
) {
  const { runs, encoding, bodyOf, jsonOf } = options
  const gateway = await startServer(t)
  let accepted = 0
  await checkProperty(t, {
    runs,
    value: requests,
    async holds({ params, isBatch, faults: ofBody, cuts, chunked }) {
      const entries = params.map(({ text }) => `{"event":"e","params":{"v":${text}}}`)
      const rest = isBatch ? `"logs":[${entries.join(',')}]` : `"log":${entries[0]}`
      const body = damage(bodyOf(`${JSON.stringify(sender()).slice(0, -1)},${rest}}`), ofBody)
      const path = isBatch ? '/api/log/batch' : '/api/log'
      const type = { 'content-type': 'application/json', ...encoding }
      const response = await exchange(gateway.app, { path, headers: type, body, cuts, chunked })
      const rows = takeRows(gateway, 'logs')
      if (isRefused(response)) {
        expectEqual(rows, [])
        if (ofBody.length === 0) throw new Error(`refused: ${response.body.code}`)
        return
      }
      accepted++
      const sent = parseLossless(jsonOf(body)) as Submission
      const results = (response.body.results ?? [response.body]) as { id?: string }[]
      const kept = (isBatch ? sent.logs : [sent.log]).filter(
        (_entry, n) => results[n]?.id !== undefined,
      )
      expectEqual(
        rows.map(({ event, params: stored }) => ({ event, params: stored })),
        kept.map((entry) => wellFormed({ event: entry.event, params: entry.params ?? {} })),
      )
    },
  })
  t.comment(`${accepted} of them accepted`)
}

t.test('a JSON body, damaged and cut into segments, is stored as sent or refused', async (t) => {
  await checkBodies(t, {
    runs: 300,
    encoding: {},
    bodyOf: (json) => Buffer.from(json),
    jsonOf: (body) => body.toString(),
  })
})

t.test('a gzip body, damaged and cut into segments, is stored as sent or refused', async (t) => {
  await checkBodies(t, {
    runs: 300,
    encoding: gzipped,
    bodyOf: (json) => gzipSync(json),
    jsonOf: (body) => gunzipSync(body).toString(),
  })
})

const document = Buffer.from(JSON.stringify(logBody({ params: { n: 1, text: 'é😀"\\' } })))

t.test('a body that is truncated anywhere is refused', async (t) => {
  const gateway = await startGateway(t)
  const gzip = gzipSync(document)
  let cases = 0
  for (const [whole, encoding] of [
    [document, {}],
    [gzip, gzipped],
  ] as const) {
    for (let end = 0; end < whole.length; end++) {
      const { statusCode } = await sendLog(gateway, whole.subarray(0, end), encoding)
      if (statusCode !== 400) t.fail(`${statusCode} after ${end} bytes`)
      cases++
    }
  }
  t.equal(gateway.frames.logs.length, 0, `${cases} cases`)
})

t.test('a gzip body with any single bit flipped is refused, or stored as sent', async (t) => {
  const gateway = await startGateway(t)
  const gzip = gzipSync(document)
  for (let bit = 0; bit < gzip.length * 8; bit++) {
    const payload = damage(gzip, [{ kind: 'flip', at: bit >> 3, bit: bit & 7 }])
    const { statusCode } = await sendLog(gateway, payload, gzipped)
    const [row] = takeRows(gateway, 'logs')
    if (statusCode === 201) expectEqual(row?.['params'], { n: 1, text: 'é😀"\\' })
    else if (statusCode !== 400 || row !== undefined) t.fail(`${statusCode} for bit ${bit}`)
  }
  t.pass(`${gzip.length * 8} cases`)
})
