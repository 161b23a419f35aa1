import { payloadText } from '../attack/bodies.ts'
import { connected, dial, ended, written } from '../attack/connection.ts'
import { boundary, form, head, json } from '../attack/http-text.ts'
import { repeat, wait } from '../attack/loops.ts'
import { hostileCase, type Attacker } from '../hostile-case.ts'

/** A form with one JPEG. Its scan repeats a single byte. */
function pictureForm(bytes: number): Buffer {
  const dispositions = ['name="payload"', 'name="attachments"; filename="a.jpg"']
  const [payload, attachment] = dispositions.map(
    (one) => `--${boundary}\r\ncontent-disposition: form-data; ${one}\r\n\r\n`,
  )
  return Buffer.concat([
    Buffer.from(`${payload}${payloadText()}\r\n${attachment}`),
    Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
    // The JPEG header for 256 × 256 pixels, and the start of the scan.
    Buffer.from('ffc0000b080100010001011100ffda0008010100003f00', 'hex'),
    Buffer.alloc(bytes, 0x5a),
    Buffer.from('ffd9', 'hex'),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
}

/**
 * Sends a request at a limited rate. Resolves to how long it took, and to the status of the
 * response (0 if there was none).
 */
async function sendSlowly(
  attacker: Attacker,
  options: { header: string; body: Buffer; bytesPerSecond: number; stepMs: number },
) {
  const { header, body, bytesPerSecond, stepMs } = options
  const step = Math.ceil((bytesPerSecond * stepMs) / 1_000)
  const started = performance.now()
  const socket = dial(attacker)
  const response = { status: 0 }
  const over = new AbortController()
  socket.once('data', (bytes) => {
    response.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1'))?.[1] ?? 0)
    over.abort()
  })
  if (!(await connected(socket))) return { status: 0, ms: 0 }
  await written(socket, header)
  const signal = AbortSignal.any([over.signal, attacker.signal])
  for (let at = 0; at < body.length && !signal.aborted; at += step) {
    if (!(await written(socket, body.subarray(at, at + step)))) break
    await wait(stepMs, signal)
  }
  await Promise.race([ended(socket), wait(30_000, signal)])
  const ms = Math.round(performance.now() - started)
  socket.destroy()
  return { status: response.status, ms }
}

export const slowBodies = [
  hostileCase({
    id: 'g1',
    title: 'one key: an honest phone with a picture of 8 MB at 1.6 Mbit/s',
    attackMs: 60_000,
    sentMin: 1,
    async attack(attacker) {
      const body = pictureForm(8_000_000)
      const headers = { ...form, 'x-api-key': attacker.apiKey, 'content-length': body.length }
      const header = head('POST /api/feedback', headers)
      const options = { header, body, bytesPerSecond: 200_000, stepMs: 100 }
      return { sent: 1, ...(await sendSlowly(attacker, options)) }
    },
    judge({ status, ms }, expect) {
      expect(status === 201, `it is accepted (${status} after ${ms} ms)`)
    },
  }),
  hostileCase({
    id: 'g2',
    title: 'one key: 40 connections that send 100 bytes a second',
    attackMs: 40_000,
    sentMin: 40,
    async attack(attacker) {
      const seen = { sent: 0, timedOut: 0, other: 0, slowestMs: 0 }
      const ends = new AbortController()
      const body = Buffer.alloc(1_000_000, ' ')
      const headers = { ...json, 'x-api-key': attacker.apiKey, 'content-length': body.length }
      const header = head('POST /api/log', headers)
      await repeat({ lanes: 40, signal: ends.signal }, async () => {
        seen.sent++
        const options = { header, body, bytesPerSecond: 100, stepMs: 1_000 }
        const { status, ms } = await sendSlowly(attacker, options)
        if (status === 408) seen.timedOut++
        else seen.other++
        seen.slowestMs = Math.max(seen.slowestMs, ms)
        ends.abort()
      })
      return seen
    },
    judge({ timedOut, other, slowestMs }, expect) {
      expect(other === 0, `each is closed with 408 (${timedOut} are, ${other} are not)`)
      expect(slowestMs <= 30_000, `at most 30 s after its start (${slowestMs} ms)`)
    },
  }),
]
