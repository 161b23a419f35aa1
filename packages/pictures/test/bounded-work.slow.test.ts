import { createHash } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'
import t from 'tap'
import { costlyPictures } from '../../../test/hostile/attack/pictures.ts'
import { examinePicture, PictureError } from '../src/index.ts'
import { colorProfile } from './corpus/color-profile.ts'
import { chunk, segment } from './corpus/containers.ts'
import { ordinaryPictures, profileOfTables } from './corpus/ordinary.ts'
import { film, planted } from './corpus/planted.ts'
import { blocks, long, short, writeTiff } from './corpus/tiff-writer.ts'
import { cpuMs } from './cpu.ts'

/**
 * The CPU time that a picture may take: as much as a hundred SHA-256 hashes of 10 MB. The limit is
 * high, because on a busy machine a loop may run for a while before it is compiled. A walk that is
 * not linear takes minutes.
 */
const msMax = cpuMs(() => {
  const bytes = Buffer.alloc(10_000_000)
  for (let n = 0; n < 100; n++) createHash('sha256').update(bytes).digest()
})

t.test('a picture that asks for more work than its bytes is refused, in bounded time', (t) => {
  for (const { name, type, bytes, refusal } of costlyPictures) {
    if (refusal === undefined) continue
    const picture = bytes()
    const ms = cpuMs(() => {
      t.throws(() => examinePicture(picture, type), new PictureError(refusal), `${type}: ${name}`)
    })
    t.ok(ms < msMax, `${name}: ${ms} of ${msMax} ms`)
  }
  t.end()
})

t.test('one whose work is bounded by its bytes is accepted, in bounded time', (t) => {
  for (const { name, type, bytes, refusal } of costlyPictures) {
    if (refusal !== undefined) continue
    const picture = bytes()
    const ms = cpuMs(() => {
      t.ok(examinePicture(picture, type).removeMetadata().length > 0, `${type}: ${name}`)
    })
    t.ok(ms < msMax, `${name}: ${ms} of ${msMax} ms`)
  }
  t.end()
})

t.test('ordinary pictures of 10 MB are accepted, with as many parts as devices write', (t) => {
  for (const { name, type, bytes } of ordinaryPictures()) {
    t.ok(examinePicture(bytes, type).removeMetadata().length > 9_900_000, `${type}: ${name}`)
  }
  t.end()
})

function pngWithProfile(compressed: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
    chunk('iCCP', 'x\0\0', compressed),
    chunk('IDAT', deflateSync(Buffer.alloc(2))),
    chunk('IEND'),
  ])
}

/** Returns what a PNG keeps of this profile, decompressed; undefined if it keeps nothing. */
function profileAfter(compressed: Buffer): Buffer | undefined {
  const png = examinePicture(pngWithProfile(compressed), 'image/png').removeMetadata()
  const at = png.indexOf('iCCP')
  if (at === -1) return undefined
  return inflateSync(png.subarray(at + 7, at + 4 + png.readUInt32BE(at - 4)))
}

t.test('the profile of a display in a PNG remains, without its serial number', (t) => {
  const profile = colorProfile()
  for (const level of [1, 6, 9]) {
    const after = profileAfter(deflateSync(profile, { level }))
    t.equal(after?.length, profile.length, `level ${level}`)
    t.notOk(after?.includes(planted))
    const isSame = (name: string) => {
      const entry = profile.indexOf(name, 132)
      const from = profile.readUInt32BE(entry + 4)
      const to = from + profile.readUInt32BE(entry + 8)
      return after?.subarray(from, to).equals(profile.subarray(from, to))
    }
    for (const name of ['wtpt', 'rXYZ', 'gXYZ', 'bXYZ', 'rTRC']) t.ok(isSame(name), name)
  }
  t.end()
})

t.test('a profile that fits only with its header remains, with the header', (t) => {
  const profile = profileOfTables(100_000)
  // Each byte is 0 or 1, at random. Level 9 compresses such bytes better than the level that is
  // used for a profile of this size.
  for (let at = 144; at < profile.length; at++) profile[at] = profile[at]! & 1
  profile.write('Made 12:34', 24)
  t.same(profileAfter(deflateSync(profile, { level: 9 })), profile)
  t.end()
})

t.test('a compressed profile in a PNG is kept up to 128 KiB', (t) => {
  const [small, large] = [profileOfTables(120_000), profileOfTables(140_000)]
  t.same(profileAfter(deflateSync(small)), small)
  t.equal(profileAfter(deflateSync(large)), undefined)
  t.end()
})

t.test('the tags of all profiles of a file count together', (t) => {
  const jpeg = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe2, 'ICC_PROFILE\0\x01\x01', colorProfile()),
    Buffer.from([0xff, 0xd9]),
  ])
  const tiffWith = (count: number) => {
    const sizes = long(279, ...Array.from({ length: count }, () => jpeg.length))
    const strips = blocks(273, ...Array.from({ length: count }, () => jpeg))
    const entries = [short(256, 1), short(257, count), short(259, 7), strips, sizes]
    return writeTiff([entries], { order: 'II' })
  }
  t.equal(examinePicture(tiffWith(900), 'image/tiff').width, 1)
  t.throws(
    () => examinePicture(tiffWith(1_200), 'image/tiff'),
    new PictureError('it has too many parts'),
  )
  t.end()
})

t.test('a profile with more than a thousand tags is emptied', (t) => {
  for (const [tags, isKept] of [
    [1_000, true],
    [1_001, false],
  ] as const) {
    const text = 'a description'
    const profile = Buffer.alloc(132 + tags * 12 + text.length)
    profile.write('acsp', 36)
    profile.writeUInt32BE(tags, 128)
    for (let tag = 132; tag < 132 + tags * 12; tag += 12) {
      profile.write('desc', tag)
      profile.writeUInt32BE(132 + tags * 12, tag + 4)
      profile.writeUInt32BE(text.length, tag + 8)
    }
    profile.write(text, 132 + tags * 12)
    const jpeg = Buffer.concat([
      Buffer.from([0xff, 0xd8]),
      segment(0xe2, 'ICC_PROFILE\0\x01\x01', profile),
      Buffer.from('ffc0000b080010001001011100ffda0008010100003f00ffd9', 'hex'),
    ])
    t.equal(examinePicture(jpeg, 'image/jpeg').removeMetadata().includes(text), isKept, `${tags}`)
  }
  t.end()
})

t.test('a film is found at every position in a scan with many of its letters', (t) => {
  const scan = Buffer.from('ffd8ffc0000b080010001001011100ffda0008010100003f00', 'hex')
  const after = Buffer.concat([Buffer.alloc(4_000, 'f'), Buffer.alloc(4)])
  for (const letters of ['f', 'fty', 'tpyf', 'p']) {
    for (const length of [0, 1, 2, 3, 4_000, 4_001, 4_002, 4_003]) {
      const picture = Buffer.concat([scan, Buffer.alloc(length, letters)])
      const whole = examinePicture(Buffer.concat([picture, after]), 'image/jpeg')
      t.ok(whole.isClean, `${letters}, ${length} bytes, no film`)
      const expected = Buffer.concat([picture, Buffer.from('ffd9', 'hex')])
      for (const one of [film(), film().subarray(0, 8), Buffer.concat([film(), after])]) {
        const kept = examinePicture(Buffer.concat([picture, one]), 'image/jpeg').removeMetadata()
        t.ok(kept.equals(expected), `${letters}, ${length} bytes, a film of ${one.length}`)
      }
    }
  }
  t.end()
})

t.test('a strip that begins where the file begins is no JPEG', (t) => {
  const [text, at] = ['a comment', 200]
  const strip = Buffer.concat([
    Buffer.from('ffda0008010100003f00', 'hex'),
    Buffer.from('\0\0\0\x18ftypmp42', 'latin1'),
    segment(0xfe, text),
  ])
  const size = [short(256, 1), short(257, 1), short(259, 7)]
  const tiff = writeTiff([[...size, long(273, 0), long(279, at + strip.length)]], { order: 'II' })
  const bytes = Buffer.alloc(500)
  tiff.copy(bytes)
  strip.copy(bytes, at)
  const refusal = new PictureError('a JPEG in it begins like none')
  t.throws(() => examinePicture(bytes, 'image/tiff'), refusal)
  t.end()
})
