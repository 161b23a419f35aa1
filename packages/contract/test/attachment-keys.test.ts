import t from 'tap'
import {
  attachmentKey,
  attachmentPrefix,
  originalKey,
  parseAttachmentKey,
  thumbnailKey,
} from '../src/index.ts'

const id = '01a1fc28-0000-7000-8000-000000000001'
const time = '2026-11-21T23:59:59.999Z'
const sha256 = 'a'.repeat(64)

t.test('a key contains the day, the feedback and the number of an attachment', async (t) => {
  const key = attachmentKey({ id, time, number: 2, sha256, extension: 'jpg' })
  t.equal(key, `feedback/2026/11/21/${id}/2-${sha256}.jpg`)
  t.same(parseAttachmentKey(key), { id, number: 2 })
  t.ok(key.startsWith(attachmentPrefix('2026-11-21')))
  t.ok(key.startsWith(attachmentPrefix('2026-11')))
  t.notOk(key.startsWith(attachmentPrefix('2026-1')))
})

t.test('what no gateway makes is no key', async (t) => {
  const key = attachmentKey({ id, time, number: 2, sha256, extension: 'jpg' })
  for (const other of [`/${key}`, `${key}/x`, key.replace(id, '..'), key.replace('.jpg', ''), '']) {
    t.equal(parseAttachmentKey(other), undefined, other)
  }
})

t.test('a thumbnail is found from its attachment, and the attachment from it', async (t) => {
  const key = attachmentKey({ id, time, number: 2, sha256, extension: 'jpg' })
  t.equal(thumbnailKey(key), `${key}.thumbnail.webp`)
  t.equal(originalKey(thumbnailKey(key)), key)
  t.equal(originalKey(key), key)
  t.equal(parseAttachmentKey(thumbnailKey(key)), undefined, 'no attachment')
})
