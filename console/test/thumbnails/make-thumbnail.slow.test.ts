import { createHash } from 'node:crypto'
import sharp from 'sharp'
import t from 'tap'
import { createCorpus } from '../../../packages/pictures/test/corpus/corpus.ts'
import { heic } from '../../../packages/pictures/test/corpus/heic.ts'
import { decode, makeThumbnail } from '../../src/thumbnails/decoder/make-thumbnail.ts'

// `make-thumbnail.ts` blocks the other formats for the whole process, which runs further tests.
t.teardown(() => sharp.unblock({ operation: ['VipsForeignLoad'] }))

// These pictures are made with `sharp`. In this test `sharp` writes all formats, although
// `make-thumbnail.ts` lets it read only four.
const noise = (width: number, height: number) => {
  const gaussian = { type: 'gaussian', mean: 128, sigma: 30 } as const
  return sharp({ create: { width, height, channels: 3, background: 'gray', noise: gaussian } })
}
const examine = (bytes: Buffer, contentType: string) => {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return makeThumbnail(bytes, { contentType, sha256 })
}

t.test('a picture of each decoded format gets a WebP of at most 400 pixels', async (t) => {
  for (const format of ['jpeg', 'png', 'webp', 'gif'] as const) {
    const bytes = await noise(800, 600).toFormat(format).toBuffer()
    const { width, height, thumbnail, error } = await examine(bytes, `image/${format}`)
    t.same({ width, height, error }, { width: 800, height: 600, error: undefined }, format)
    const made = await sharp(thumbnail).metadata()
    t.match(made, { format: 'webp', width: 400, height: 300 })
    t.match(made, { exif: undefined, xmp: undefined, icc: undefined })
  }
})

t.test('a small picture is not enlarged', async (t) => {
  const bytes = await noise(30, 20).png().toBuffer()
  const { thumbnail } = await examine(bytes, 'image/png')
  t.match(await sharp(thumbnail).metadata(), { width: 30, height: 20 })
})

t.test('a turned picture has the size that people see, and so has its thumbnail', async (t) => {
  const bytes = await noise(800, 600).withMetadata({ orientation: 6 }).jpeg().toBuffer()
  const { width, height, thumbnail } = await examine(bytes, 'image/jpeg')
  t.same({ width, height }, { width: 600, height: 800 })
  t.match(await sharp(thumbnail).metadata(), { width: 300, height: 400 })
})

t.test('each picture of the corpus has its size, and some formats a thumbnail', async (t) => {
  for (const { name, type, bytes, width, height, orientation = 1 } of await createCorpus()) {
    const isDecoded = /jpeg|png|gif|webp/.test(type)
    const isTurned = isDecoded && orientation > 4
    const found = await examine(Buffer.from(bytes), type)
    t.same([found.width, found.height], isTurned ? [height, width] : [width, height], name)
    if (isDecoded) t.equal(found.thumbnail?.toString('latin1', 8, 12), 'WEBP', name)
    else t.equal(found.error, 'format', name)
  }
})

t.test('HEIF, AVIF, TIFF and SVG cannot reach a decoder, whatever they are called', async (t) => {
  const others = {
    heic,
    avif: await noise(64, 64).avif().toBuffer(),
    tiff: await noise(64, 64).tiff().toBuffer(),
    svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
  }
  for (const [name, bytes] of Object.entries(others)) {
    await t.rejects(decode(bytes), /unsupported image format/, name)
    for (const type of ['image/jpeg', 'image/png', 'image/webp', 'image/gif'])
      t.same(await examine(bytes, type), { error: 'unreadable' }, `${name} as ${type}`)
  }
  t.match(await examine(others.avif, 'image/avif'), { width: 64, height: 64, error: 'format' })
})

t.test('a picture with too many pixels, or too many in a row, is not decoded', async (t) => {
  for (const [width, height] of [
    [8_000, 7_000],
    [1, 70_000],
    [70_000, 1],
  ] as const) {
    const create = { width, height, channels: 3, background: 'gray' } as const
    const bytes = await sharp({ create }).png().toBuffer()
    t.same(await examine(bytes, 'image/png'), { width, height, error: 'pixels' })
  }
})

t.test('a picture with too many pixels in a format that is not decoded is too large', async (t) => {
  const bytes = await noise(64, 64).avif().toBuffer()
  const size = bytes.indexOf('ispe') + 8
  bytes.writeUInt32BE(20_000, size)
  bytes.writeUInt32BE(10_000, size + 4)
  const large = { width: 20_000, height: 10_000, error: 'pixels' }
  t.same(await examine(bytes, 'image/avif'), large, 'so lists do not show it')
})

t.test('a truncated picture gets a thumbnail of what is there', async (t) => {
  const whole = await noise(800, 600).jpeg().toBuffer()
  const { thumbnail } = await examine(whole.subarray(0, whole.length / 2), 'image/jpeg')
  t.match(await sharp(thumbnail).metadata(), { width: 400, height: 300 })
})

t.test('what is damaged, or not what was accepted, gets an error', async (t) => {
  const bytes = await noise(64, 64).png().toBuffer()
  const contentType = 'image/png'
  t.same(await makeThumbnail(bytes, { contentType, sha256: '00' }), { error: 'differs' })
  t.same(await examine(bytes.subarray(0, 20), contentType), { error: 'unreadable' })
  const jpeg = await noise(64, 64).jpeg().toBuffer()
  jpeg[jpeg.indexOf('ffc0', 0, 'hex') + 4] = 12
  const undecodable = { width: 64, height: 64, error: 'undecodable' }
  t.same(await examine(jpeg, 'image/jpeg'), undecodable, 'samples of 12 bits')
  const damaged = Buffer.from(bytes)
  damaged.fill(0xff, bytes.indexOf('IDAT') + 4, bytes.indexOf('IDAT') + 40)
  t.match(await examine(damaged, contentType), { thumbnail: Buffer, error: undefined }, 'pixels')
})
