import { createHash } from 'node:crypto'
import t from 'tap'
import { chunk as pngChunk } from '../../../packages/pictures/test/corpus/containers.ts'
import { images, startGateway } from '../support.ts'
import { file, payload, send, refusal, lenient } from '../forms.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const secretPlace = 'N 48.85837 E 2.29448'

/** Adds a comment to a picture. The comment says where the picture was taken. */
const withPlace = (png: Buffer, place = secretPlace) =>
  Buffer.concat([png.subarray(0, 33), pngChunk('tEXt', `Comment\0${place}`), png.subarray(33)])

/** Creates a picture whose header claims this size, although the picture has one pixel. */
function claiming(width: number, height: number): Buffer {
  const png = Buffer.from(images.png)
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(height, 20)
  return png
}

t.test('201: what is stored, listed and hashed has no metadata', async (t) => {
  const gateway = await startGateway(t)
  const parts = [payload(), file(withPlace(images.png)), file(images.gif)]
  const { status, body } = await send(gateway, parts)
  t.equal(status, 201)
  const facts = { content_type: 'image/png', bytes: images.png.length, sha256: sha256(images.png) }
  t.match(body.attachments, [{ status: 'stored', ...facts }, { sha256: sha256(images.gif) }])
  t.match(gateway.rows('feedback'), [{ attachments: [facts, {}] }])
  t.match([...gateway.objects.values()], [{ body: images.png, sha256: facts.sha256 }, {}])
  const [key] = gateway.objects.keys()
  t.match(key, new RegExp(`/1-${facts.sha256}\\.png$`))
  const all = JSON.stringify([gateway.rows('feedback'), gateway.log, body])
  t.notMatch(
    all + Buffer.concat([...gateway.objects.values()].map((one) => one.body)).toString('latin1'),
    secretPlace,
  )
})

t.test('201: a picture in a text part, and one larger than a turn of hashing', async (t) => {
  const gateway = await startGateway(t)
  const behind = Buffer.alloc(3_000_000, secretPlace)
  const pixels = pngChunk('IDAT', Buffer.alloc(3_000_000, 7))
  const large = Buffer.concat([images.png.subarray(0, 33), pixels, images.png.subarray(-12)])
  const sent = Buffer.concat([withPlace(large), behind])
  const { status } = await send(gateway, [payload(), file(sent), ['a', withPlace(images.png)]])
  t.equal(status, 201)
  const [first, second] = [...gateway.objects.values()]
  t.ok(first?.body.equals(large))
  t.equal(first?.sha256, sha256(large))
  t.same(second?.body, images.png)
})

t.test('a picture is identified by what was sent: with another place it is another', async (t) => {
  const gateway = await startGateway(t)
  const id = '6f9619ff-8b86-4d01-b42d-00c04fc964ff'
  const sendFrom = (place: string) =>
    send(gateway, [payload({ id }), file(withPlace(images.png, place))])
  const first = await sendFrom(secretPlace)
  t.equal(first.status, 201)
  t.match(await sendFrom(secretPlace), { status: 201, body: { id: first.body.id } })
  t.equal(gateway.objects.size, 1)
  t.match(await sendFrom('elsewhere'), refusal(422, 'idempotency_key_reused'))
})

t.test('415 attachment_unreadable for a structure that cannot be walked', async (t) => {
  const gateway = await startGateway(t)
  for (const bytes of [
    images.png.subarray(0, 33),
    Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
    Buffer.concat([images.gif.subarray(0, 13), Buffer.from('PK\x03\x04')]),
    Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'),
    Buffer.from('II*\0\xff\xff\xff\xff', 'latin1'),
  ]) {
    const parts = [payload(), file(images.png), file(bytes)]
    const errors = [{ pointer: '/attachments/1', detail: /^cannot be read as / }]
    const refused = await send(gateway, parts)
    t.match(refused, { status: 415, body: { code: 'attachment_unreadable', errors } })
    t.equal(gateway.objects.size, 0)
    const { body } = await send(gateway, parts, lenient)
    t.match(body.attachments, [{ status: 'stored' }, { code: 'attachment_unreadable' }])
    t.equal(gateway.objects.size, 1)
    gateway.objects.clear()
  }
})

t.test('413 attachment_too_many_pixels by the header; lenient leaves it out', async (t) => {
  const gateway = await startGateway(t)
  const bomb = claiming(16_000, 16_000)
  // The headers of these two small files claim 65,535² and 16,384² pixels.
  const gif = Buffer.from(images.gif)
  gif.writeUInt32LE(0xffff_ffff, 6)
  const webp = Buffer.from(images.webp)
  webp.writeUInt32LE(0x0fff_ffff, 21)
  const refused = refusal(413, 'attachment_too_many_pixels', '/attachments/0')
  for (const claim of [bomb, gif, webp]) {
    t.match(await send(gateway, [payload(), file(claim)]), refused)
  }
  t.equal((await send(gateway, [payload(), file(claiming(20_000, 10_000))])).status, 201)
  const kept = await send(gateway, [payload(), file(bomb)], lenient)
  t.match(kept.body.attachments, [{ code: 'attachment_too_many_pixels' }])
  const small = await startGateway(t, { env: { ATTACHMENT_PIXELS_MAX: '99' } })
  t.equal((await send(small, [payload(), file(claiming(10, 10))])).status, 413)
  t.equal((await send(small, [payload(), file(claiming(9, 11))])).status, 201)
})

t.test('KEEP_METADATA keeps a picture as it was sent, if it can be read', async (t) => {
  const gateway = await startGateway(t, { env: { KEEP_METADATA: 'true' } })
  const sent = withPlace(images.png)
  const { body } = await send(gateway, [payload(), file(sent)])
  t.match(body.attachments, [{ bytes: sent.length, sha256: sha256(sent) }])
  t.match([...gateway.objects.values()], [{ body: sent }])
  const unreadable = await send(gateway, [payload(), file(images.png.subarray(0, 33))])
  t.match(unreadable, refusal(415, 'attachment_unreadable'))
})
