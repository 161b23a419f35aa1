import { createHash } from 'node:crypto'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { readPicture } from '../../src/page/read-picture.ts'
import { emptyReader } from './fixture.ts'

const id = '01a1fc28-0000-7000-8000-000000000001'

t.test('other work of the console runs while a large picture is checked', async (t) => {
  const body = Buffer.alloc(16 * 1024 * 1024, 7)
  const sha256 = createHash('sha256').update(body).digest('hex')
  const key = `feedback/2026/11/21/${id}/1-${sha256}.jpg`
  const unexamined = { width: null, height: null, thumbnail_key: null }
  const attachment = {
    key,
    content_type: 'image/jpeg',
    bytes: body.length,
    sha256,
    ...unexamined,
  }
  const state = { isRead: false }
  let turns = 0
  const reading = readPicture(key, {
    reader: { ...emptyReader, query: async <Row>() => [{ attachments: [attachment] }] as Row[] },
    store: { get: async () => body },
    keepsMetadata: true,
  }).finally(() => (state.isRead = true))
  for (; !state.isRead; turns++) await turnOfTheLoop()
  t.equal((await reading).body, body)
  t.ok(turns >= 16, `${turns} turns of the loop`)
})
