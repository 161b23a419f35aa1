import { connected, dial, written } from '../attack/connection.ts'
import { head, json, request } from '../attack/http-text.ts'
import { flood } from '../attack/flood.ts'
import { aborted, wait } from '../attack/loops.ts'
import { logText } from '../attack/bodies.ts'
import { hostileCase, type Attacker } from '../hostile-case.ts'

/**
 * Sends the same request repeatedly on each connection. Reads the responses slowly or not at all.
 *
 * @param options.readsBytes how many bytes each connection reads once a second; default: none
 */
async function sendUnread(
  attacker: Attacker,
  options: { connections: number; bytes: number; text: Buffer | string; readsBytes?: number },
) {
  const { connections, bytes, text, readsBytes = 0 } = options
  const each = Math.floor(bytes / connections / Buffer.byteLength(text))
  const pipeline = Buffer.concat(Array.from({ length: each }, () => Buffer.from(text)))
  const lanes = Array.from({ length: connections }, async () => {
    const socket = dial(attacker)
    if (!(await connected(socket))) return 0
    void written(socket, pipeline)
    if (readsBytes > 0) setInterval(() => void socket.read(readsBytes), 1_000)
    return each
  })
  const sent = (await Promise.all(lanes)).reduce((sum, one) => sum + one, 0)
  return { sent }
}

async function sendUnreadOnce(attacker: Attacker, options: Parameters<typeof sendUnread>[1]) {
  const facts = await sendUnread(attacker, options)
  await aborted(attacker.signal)
  return facts
}

const documentRequest = head('GET /openapi.json')
const megabyte = 1_000_000

export const unreadResponses = [
  hostileCase({
    id: 'a1',
    title: 'no key: 25 connections, 3 MB of pipelined `GET /openapi.json`, responses never read',
    memoryMiBMax: 500,
    connectionsEndMs: 45_000,
    attack: (attacker) =>
      sendUnreadOnce(attacker, { connections: 25, bytes: 3 * megabyte, text: documentRequest }),
  }),
  hostileCase({
    id: 'a3',
    title: 'no key: five more such connections every half second; the earlier ones stay unread',
    memoryMiBMax: 500,
    async attack(attacker) {
      let sent = 0
      while (!attacker.signal.aborted) {
        const more = { connections: 5, bytes: 0.6 * megabyte, text: documentRequest }
        sent += (await sendUnread(attacker, more)).sent
        await wait(500, attacker.signal)
      }
      return { sent }
    },
  }),
  hostileCase({
    id: 'a6',
    title: 'a key: 40 connections, 8 MB of pipelined valid events, never read',
    memoryMiBMax: 500,
    attack: (attacker) =>
      sendUnreadOnce(attacker, {
        connections: 40,
        bytes: 8 * megabyte,
        text: request('POST /api/log', { ...json, 'x-api-key': attacker.apiKey }, logText()),
      }),
  }),
  hostileCase({
    id: 'a7',
    title: 'no key: `GET /openapi.json` over 16 connections, one after another, all read',
    memoryMiBMax: 500,
    attack: (attacker) =>
      flood(attacker, { lanes: 16, method: 'GET', path: '/openapi.json', body: () => '' }),
    judge: ({ broken, silent }, expect) =>
      expect(broken + silent === 0, `no 500, no missing response (${broken + silent})`),
  }),
]
