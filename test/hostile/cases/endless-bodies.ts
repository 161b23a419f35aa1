import { sendEndlessBodies, type Endless } from '../attack/endless-body.ts'
import { holdConnections } from '../attack/hold.ts'
import { boundary, form, head, json } from '../attack/http-text.ts'
import { repeat } from '../attack/loops.ts'
import { mebibyte } from '../attack/bodies.ts'
import { sendThenRead } from '../attack/send-then-read.ts'
import { hostileCase, type Expect } from '../hostile-case.ts'

const openMsMax = 5_000
const bytesMax = 16 * mebibyte
/** A form may have four images of 10 MiB, a payload of 1 MiB and some overhead. */
const formBytesMax = 42 * mebibyte

function judge(seen: Endless, expect: Expect): void {
  expect(seen.refused > 0, 'it is refused')
  expect(seen.bytesMax <= bytesMax, `a connection takes at most 16 MiB (${mib(seen.bytesMax)} MiB)`)
  expect(
    seen.openMsMax <= openMsMax,
    `it is closed within 5 s of the refusal (${seen.openMsMax} ms)`,
  )
}

const mib = (bytes: number) => Math.round(bytes / mebibyte)
const chunked = { 'transfer-encoding': 'chunked' }

export const endlessBodies = [
  hostileCase({
    id: 'c1',
    title: 'no key: endless bodies that continue after the 401',
    attack: (attacker) =>
      sendEndlessBodies(attacker, {
        header: head('POST /api/log', { ...json, ...chunked }),
        chunked: true,
      }),
    judge,
  }),
  hostileCase({
    id: 'c2',
    title: 'a key: endless batches that continue after the 413',
    attack: (attacker) =>
      sendEndlessBodies(attacker, {
        header: head('POST /api/log/batch', {
          ...json,
          ...chunked,
          'x-api-key': attacker.apiKey,
        }),
        chunked: true,
      }),
    judge,
  }),
  hostileCase({
    id: 'c3',
    title: 'a key: bodies with a declared length of 100 GB that continue after the 413',
    attack: (attacker) =>
      sendEndlessBodies(attacker, {
        header: head('POST /api/log', {
          ...json,
          'content-length': 100e9,
          'x-api-key': attacker.apiKey,
        }),
      }),
    judge,
  }),
  hostileCase({
    id: 'c4',
    title: 'no key: endless bodies that continue after the 404',
    attack: (attacker) =>
      sendEndlessBodies(attacker, { header: head('POST /nothing', chunked), chunked: true }),
    judge,
  }),
  hostileCase({
    id: 'c5',
    title: 'a key: endless bodies that continue after the 415',
    attack: (attacker) =>
      sendEndlessBodies(attacker, {
        header: head('POST /api/log', {
          'content-type': 'text/plain',
          ...chunked,
          'x-api-key': attacker.apiKey,
        }),
        chunked: true,
      }),
    judge,
  }),
  hostileCase({
    id: 'c6',
    title: 'a key: a form with an endless file part',
    attack: (attacker) =>
      sendEndlessBodies(attacker, {
        header:
          head('POST /api/feedback', { ...form, ...chunked, 'x-api-key': attacker.apiKey }) +
          partStart,
        chunked: true,
      }),
    judge(seen, expect) {
      expect(seen.refused > 0, 'it is refused')
      expect(seen.bytesMax <= formBytesMax + bytesMax, `it is closed (${mib(seen.bytesMax)} MiB)`)
    },
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
  hostileCase({
    id: 'c8',
    title: 'no key: 300 connections that declare 1 GB and send one byte a second after the 401',
    attack: (attacker) =>
      holdConnections(attacker, {
        connections: 300,
        greeting: head('POST /api/log', { ...json, 'content-length': 1e9 }),
        trickle: ' ',
      }),
    judge({ sent, openMax }, expect) {
      expect(sent > openMax, `the gateway closes connections (${sent} opened, ${openMax} at once)`)
    },
  }),
]

const part = `--${boundary}\r\ncontent-disposition: form-data; name="attachments"; filename="a.png"\r\n\r\n`
/** The part as one chunk. */
const partStart = `${part.length.toString(16)}\r\n${part}\r\n`
