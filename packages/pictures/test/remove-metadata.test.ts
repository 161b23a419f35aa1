import ExifReader from 'exifreader'
import t from 'tap'
import { examinePicture, PictureError } from '../src/index.ts'
import { chunk, gifWith, heifWith, jpegWith, pngWith, segment } from './corpus/containers.ts'
import { heic as plainHeic } from './corpus/heic.ts'
import { createCorpus, type Sample } from './corpus/corpus.ts'
import { box, planted } from './corpus/planted.ts'
import { hasTraceInside } from './corpus/traces.ts'
import { decode } from './decode.ts'

const corpus = await createCorpus()

const sampleOf = (name: string) => corpus.find((one) => one.name === name)!

/** Returns a copy of the sample in which a number of two bytes is another. */
function withNumber({ bytes, type }: Sample, at: number, value: number) {
  const copy = Buffer.from(bytes)
  copy.writeUInt16LE(value, at)
  return { bytes: copy, type }
}

/** Returns a copy of the picture without its metadata. */
function cleaned({ bytes, type }: Pick<Sample, 'bytes' | 'type'>): Buffer {
  return examinePicture(Buffer.from(bytes), type).removeMetadata()
}

t.test('the corpus has at least forty pictures in nine formats, each with a trace', async (t) => {
  t.ok(corpus.length >= 40, `${corpus.length} pictures`)
  t.equal(new Set(corpus.map(({ type }) => type)).size, 9)
  for (const { name, bytes } of corpus) t.ok(hasTraceInside(bytes), name)
})

t.test('what is kept has no trace of what was planted', async (t) => {
  for (const sample of corpus) t.notOk(hasTraceInside(cleaned(sample)), sample.name)
})

t.test('the pixels are the same for an independent decoder', async (t) => {
  for (const sample of corpus) {
    const [before, after] = await Promise.all([
      decode(sample.bytes, sample.type),
      decode(cleaned(sample), sample.type),
    ])
    t.ok(before.length > 0 && before.equals(after), sample.name)
  }
})

t.test('all frames of an animation are kept, whichever header is first', async (t) => {
  for (const name of ['animated', 'animated, the first frame before its header']) {
    const sample = sampleOf(`image/png: ${name}`)
    const kept = cleaned(sample)
    const frames = (png: Buffer) => png.toString('latin1').match(/acTL|fcTL|fdAT/g)
    t.equal(frames(kept)?.length, 4, name)
    t.same(frames(kept), frames(sample.bytes), 'in the same order')
  }
})

/** The names of tags that identify a person, a place or a device, or that contain text. */
const telling =
  /gps|latitude|maker|serial|comment|artist|copyright|make$|^model|description|software|keyword|caption|source/i

t.test('another reader finds no position, maker note, serial number or comment', async (t) => {
  let foundBefore = 0
  for (const sample of corpus.filter(({ type }) => readable.has(type))) {
    if (tellingTags(sample.bytes).length > 0) foundBefore++
    t.same(tellingTags(cleaned(sample)), [], sample.name)
  }
  t.ok(foundBefore > 30, `it finds something in ${foundBefore} of the pictures as they are sent`)
})

/** The formats that ExifReader can read. */
const readable = new Set(corpus.map(({ type }) => type).filter((type) => type !== 'image/bmp'))

function tellingTags(bytes: Buffer): string[] {
  try {
    const tags = ExifReader.load(bytes, { includeUnknown: true })
    return Object.keys(tags).filter((name) => telling.test(name) && !name.startsWith('ICC '))
  } catch (error) {
    if (error instanceof Error && /no exif data|invalid image format/i.test(error.message))
      return []
    throw error
  }
}

t.test('the size and the orientation remain', async (t) => {
  for (const sample of corpus) {
    const picture = examinePicture(Buffer.from(sample.bytes), sample.type)
    const { width, height, isClean } = picture
    t.match(
      { width, height, isClean },
      { width: sample.width, height: sample.height, isClean: false },
      sample.name,
    )
    const found = orientationOf(picture.removeMetadata())
    if (/jpeg|png|webp/.test(sample.type)) t.equal(found, sample.orientation ?? 1, sample.name)
  }
})

function orientationOf(bytes: Buffer): unknown {
  try {
    return ExifReader.load(bytes).Orientation?.value ?? 1
  } catch {
    return 1
  }
}

t.test('a second pass changes nothing, and a picture never grows', async (t) => {
  for (const sample of corpus) {
    const once = cleaned(sample)
    t.ok(once.length <= sample.bytes.length, sample.name)
    t.ok(cleaned({ bytes: once, type: sample.type }).equals(once), `${sample.name}, twice`)
  }
})

t.test('it works in place, within its bytes', async (t) => {
  for (const { bytes, type, name } of corpus) {
    const room = Buffer.alloc(bytes.length + 200, 0xaa)
    bytes.copy(room, 100)
    const kept = examinePicture(room.subarray(100, 100 + bytes.length), type).removeMetadata()
    t.equal(kept.buffer, room.buffer, name)
    t.ok(
      room.subarray(0, 100).every((byte) => byte === 0xaa),
      `${name}: nothing before it`,
    )
    t.ok(
      room.subarray(-100).every((byte) => byte === 0xaa),
      `${name}: nothing behind it`,
    )
  }
})

t.test('a sequence of pictures is refused, also beside an image', async (t) => {
  const { bytes, type } = sampleOf('image/heic: Exif, XMP and a link')
  for (const kind of ['moov', 'moof']) {
    const sequence = Buffer.concat([bytes, box(kind, Buffer.alloc(8))])
    const problem = new PictureError('it is a sequence of pictures')
    t.throws(() => cleaned({ bytes: sequence, type }), problem, kind)
  }
})

t.test('an image that claims the bytes of other items does not keep them', async (t) => {
  const withItems = corpus.filter(({ name }) => name.includes('Exif, XMP and a link'))
  t.equal(withItems.length, 2)
  for (const { bytes, type, name } of withItems) {
    const claiming = Buffer.from(bytes)
    // Sets the length of the first item to zero, so that it extends to the end of the file.
    claiming.writeUInt32BE(0, claiming.indexOf('iloc') + 22)
    t.notOk(hasTraceInside(cleaned({ bytes: claiming, type })), name)
  }
})

t.test('an empty item, wherever it says that its data begins, costs no pixel', async (t) => {
  const sent = heifWith(plainHeic, { brand: 'heic', items: [['mime', Buffer.alloc(0)]] })
  const pixels = await decode(sent, 'image/heic')
  const imageAt = sent.indexOf('iloc') + 18
  const itemAt = imageAt + 14
  for (const offset of [sent.readUInt32BE(itemAt), 0, sent.readUInt32BE(imageAt)]) {
    const given = Buffer.from(sent)
    given.writeUInt32BE(offset, itemAt)
    const kept = examinePicture(given, 'image/heic').removeMetadata()
    t.ok(pixels.equals(await decode(kept, 'image/heic')), `at ${offset}`)
  }
})

t.test('an item that is not an image is skipped by decoders', async (t) => {
  const withItems = corpus.filter(({ name }) => name.includes('Exif, XMP and a link'))
  for (const { bytes, type, name } of withItems) {
    const kept = cleaned({ bytes, type }).toString('latin1')
    // libavif refuses a file whose `Exif` item is not valid. Therefore removed items become `skip`.
    for (const kind of ['Exif', 'mime', 'uri ']) {
      t.ok(bytes.includes(`${kind}PLANTED name`), `${name}: ${kind}`)
      t.notOk(kept.includes(kind), `${name}: ${kind}`)
    }
    t.equal(kept.split('skip').length - 1, 3, name)
  }
})

t.test('a HEIF with a list twice is refused, because readers differ', async (t) => {
  const { bytes, type } = sampleOf('image/heic: Exif, XMP and a link')
  const meta = bytes.indexOf('meta') - 4
  const end = meta + bytes.readUInt32BE(meta)
  for (const kind of ['hdlr', 'pitm', 'iinf', 'iloc', 'iref', 'iprp']) {
    const from = bytes.indexOf(kind, meta) - 4
    const list = bytes.subarray(from, from + bytes.readUInt32BE(from))
    const twice = Buffer.concat([bytes.subarray(0, end), list, bytes.subarray(end)])
    twice.writeUInt32BE(end - meta + list.length, meta)
    t.throws(() => cleaned({ bytes: twice, type }), new PictureError('it has a list twice'), kind)
  }
  const metaTwice = Buffer.concat([bytes, bytes.subarray(meta, end)])
  t.throws(() => cleaned({ bytes: metaTwice, type }), new PictureError('it has a list twice'))
})

t.test('a TIFF whose compression is read in another way keeps nothing of its JPEG', async (t) => {
  const sample = sampleOf('image/tiff: JPEG in it')
  const entryOf = (tag: number) => sample.bytes.indexOf(Buffer.from([tag & 0xff, tag >> 8, 3, 0]))
  const compression = entryOf(259)
  const changed = (at: number, value: number) => withNumber(sample, at, value)
  for (const wholeType of [1, 6, 8]) {
    const kept = cleaned(changed(compression + 2, wholeType))
    t.notOk(hasTraceInside(kept), `type ${wholeType}`)
  }
  for (const method of [6, 99, 33_007, 34_712, 34_933, 50_001]) {
    t.throws(
      () => cleaned(changed(compression + 8, method)),
      new PictureError('its compression is not known'),
      `method ${method}`,
    )
  }
  for (const [at, value, reason] of [
    [compression + 2, 7, 'its compression is not a number'],
    [entryOf(262), 259, 'a directory of it has an entry twice'],
  ] as const) {
    t.throws(() => cleaned(changed(at, value)), new PictureError(reason))
  }
})

t.test('a strip that is to be a JPEG, and begins like none, is refused', async (t) => {
  const { bytes, type } = sampleOf('image/tiff: JPEG in it')
  const copy = Buffer.from(bytes)
  copy[copy.indexOf(Buffer.from([0xff, 0xd8])) + 1] = 0xdb
  const problem = new PictureError('a JPEG in it begins like none')
  t.throws(() => cleaned({ bytes: copy, type }), problem)
})

t.test('a TIFF with JPEG XL is accepted only if the pixels are bare', async (t) => {
  const { bytes, type } = sampleOf('image/tiff: JPEG in it')
  const copy = Buffer.from(bytes)
  copy.writeUInt16LE(52_546, copy.indexOf(Buffer.from([3, 1, 3, 0])) + 8)
  t.ok(cleaned({ bytes: copy, type }).length > 0)
  copy.write('\0\0\0\x0cJXL ', copy.indexOf(Buffer.from([0xff, 0xd8])), 'latin1')
  t.throws(() => cleaned({ bytes: copy, type }), new PictureError('it contains another picture'))
})

/** Functions that put the planted text into a sample, each in a place that decoders ignore. */
const hidden: readonly [sample: string, hides: string, hide: (bytes: Buffer) => Buffer][] = [
  ...[0xc8, 0xdc, 0xdd, 0xde, 0xdf].map((marker): (typeof hidden)[number] => [
    'image/jpeg: XMP',
    `a segment ${marker.toString(16)}`,
    (jpeg) => jpegWith(jpeg, [segment(marker, planted)]),
  ]),
  ...['pHYs', 'gAMA', 'sRGB', 'cHRM', 'acTL', 'fdAT', 'cICP'].map(
    (type): (typeof hidden)[number] => [
      'image/png: GPS in eXIf',
      `a chunk ${type}`,
      (png) => pngWith(png, { early: [chunk(type, planted)] }),
    ],
  ),
  [
    'image/png: GPS in eXIf',
    'pixels behind the pixels',
    (png) => pngWith(png, { late: [chunk('tEXt', ''), chunk('IDAT', planted)] }),
  ],
  [
    'image/png: GPS in eXIf',
    'the end',
    (png) => Buffer.concat([png.subarray(0, -12), chunk('IEND', planted)]),
  ],
  ...['VP8 ', 'VP8L', 'ANIM', 'VP8X'].map((type): (typeof hidden)[number] => [
    'image/webp: GPS in Exif',
    `a second ${type}, or a longer one`,
    (webp) => {
      const size = Buffer.alloc(4)
      const text = Buffer.from(`______${planted}`)
      size.writeUInt32LE(text.length)
      const longer = Buffer.concat([webp, Buffer.from(type), size, text])
      longer.writeUInt32LE(longer.length - 8, 4)
      return longer
    },
  ]),
  [
    'image/gif: a comment',
    'the number of repetitions',
    (gif) => {
      const text = Buffer.from([12, ...Buffer.from(planted.slice(0, 12)), 0])
      const loop = Buffer.from('\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0', 'latin1')
      return gifWith(gif, [Buffer.concat([loop, text])])
    },
  ],
  [
    'image/bmp: a profile',
    'the reserved bytes',
    (bmp) => {
      const copy = Buffer.from(bmp)
      copy.write(planted.slice(0, 4), 6)
      return copy
    },
  ],
  ...['dinf', 'grpl'].map((type): (typeof hidden)[number] => [
    'image/heic: Exif, XMP and a link',
    `a list ${type}`,
    (heic) => {
      const meta = heic.indexOf('meta') - 4
      const end = meta + heic.readUInt32BE(meta)
      const list = box(type, box('text', Buffer.from(planted)))
      const longer = Buffer.concat([heic.subarray(0, end), list, heic.subarray(end)])
      longer.writeUInt32BE(end - meta + list.length, meta)
      // The list moves the data of the four items, so their offsets are corrected.
      const locations = longer.indexOf('iloc') + 12
      for (let offset = locations + 6; offset < locations + 4 * 14; offset += 14) {
        longer.writeUInt32BE(longer.readUInt32BE(offset) + list.length, offset)
      }
      return longer
    },
  ]),
  ...['colr', 'amve', 'pasp'].map((type): (typeof hidden)[number] => [
    'image/heic: Exif, XMP and a link',
    `a property ${type}`,
    (heic) => {
      const copy = Buffer.from(heic)
      // The sample has a property of 46 bytes that is free space. It gets another type.
      copy.write(type, copy.indexOf(`free${planted}`))
      return copy
    },
  ]),
]

t.test('a part longer than its fields, or that no decoder uses, hides nothing', async (t) => {
  for (const [sample, hides, hide] of hidden) {
    const { bytes, type } = sampleOf(sample)
    const changed = hide(bytes)
    t.ok(hasTraceInside(changed), hides)
    t.notOk(hasTraceInside(cleaned({ bytes: changed, type })), `${sample}: ${hides}`)
  }
})

t.test('a BMP with an unknown header or too many bits is refused', async (t) => {
  const changed = (at: number, value: number) =>
    withNumber(sampleOf('image/bmp: a profile'), at, value)
  t.throws(() => cleaned(changed(14, 250)), new PictureError('its header has an unknown size'))
  t.throws(() => cleaned(changed(28, 96)), new PictureError('its pixels have too many bits'))
})
