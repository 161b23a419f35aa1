import { sendEndlessBodies } from '../attack/endless-body.ts'
import { boundary, form, head, json } from '../attack/http-text.ts'
import { repeat } from '../attack/loops.ts'
import { mebibyte } from '../attack/bodies.ts'
import { sendThenRead } from '../attack/send-then-read.ts'
import { hostileCase, type HostileCase } from '../hostile-case.ts'

const connectionMebibytesMax = 16
/** A form may have four images of 10 MiB, a payload of 1 MiB and some overhead. */
const formMebibytesMax = 42
const chunked = { 'transfer-encoding': 'chunked' }

/** A case with bodies that never end, not even after the gateway has refused them. */
function endless(options: {
  id: string
  title: string
  /** Returns what is sent before the endless bytes. `key` is the header field with the API key. */
  start: (key: { 'x-api-key': string }) => string
  mebibytesMax?: number
  /** How long the connection may be open after the refusal. */
  openMsMax?: number
}): HostileCase {
  const { id, title, start, mebibytesMax = connectionMebibytesMax, openMsMax = 5_000 } = options
  return hostileCase({
    id,
    title,
    attack(attacker) {
      const header = start({ 'x-api-key': attacker.apiKey })
      return sendEndlessBodies(attacker, { header, chunked: header.includes('chunked') })
    },
    judge(seen, expect) {
      const mib = Math.ceil(seen.bytesMax / mebibyte)
      expect(seen.refused > 0, 'it is refused')
      expect(mib <= mebibytesMax, `a connection takes at most ${mebibytesMax} MiB (${mib} MiB)`)
      expect(seen.openMsMax <= openMsMax, `it is closed in time (after ${seen.openMsMax} ms)`)
    },
  })
}

export const endlessBodies = [
  endless({
    id: 'c1',
    title: 'no key: endless bodies that continue after the 401',
    start: () => head('POST /api/log', { ...json, ...chunked }),
  }),
  endless({
    id: 'c6',
    title: 'a key: a form with an endless file part',
    start: (key) => head('POST /api/feedback', { ...form, ...chunked, ...key }) + partStart,
    mebibytesMax: formMebibytesMax + connectionMebibytesMax,
    openMsMax: Infinity,
  }),
  hostileCase({
    id: 'c7',
    title:
      'no key: honest clients with a wrong key and 208 KB that read only after sending everything',
    async attack(attacker) {
      const seen = { sent: 0, responded: 0, lost: 0 }
      await repeat({ lanes: 6, pauseMs: 100, signal: attacker.signal }, async (lane) => {
        seen.sent++
        const status = await sendThenRead(attacker, lane % 2 === 0)
        if (status === '401') seen.responded++
        else seen.lost++
      })
      return seen
    },
    judge({ responded, lost }, expect) {
      expect(lost === 0, `each reads its 401 (${responded} did, ${lost} did not)`)
    },
  }),
]

const part = `--${boundary}\r\ncontent-disposition: form-data; name="attachments"; filename="a.png"\r\n\r\n`
/** The header of the form's part, as one chunk of the body. */
const partStart = `${part.length.toString(16)}\r\n${part}\r\n`
