import ExifReader from 'exifreader'
import t from 'tap'
import { examinePicture } from '../src/index.ts'
import { createCorpus, type Sample } from './corpus/corpus.ts'
import { hasTraceInside } from './corpus/traces.ts'
import { decode } from './decode.ts'

const corpus = await createCorpus()

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

/** The names of tags that identify a person, a place or a device, or that contain text. */
const telling =
  /gps|latitude|maker|serial|comment|artist|copyright|make$|^model|description|software|keyword|caption|source/i

t.test(
  'an independent reader finds no position, maker note, serial number or comment',
  async (t) => {
    let foundBefore = 0
    for (const sample of corpus.filter(({ type }) => readable.has(type))) {
      if (tellingTags(sample.bytes).length > 0) foundBefore++
      t.same(tellingTags(cleaned(sample)), [], sample.name)
    }
    t.ok(foundBefore > 30, `it finds something in ${foundBefore} of the pictures as they are sent`)
  },
)

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
