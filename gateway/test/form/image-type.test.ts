import t from 'tap'
import { imageTypes } from '@intake/contract'
import { examinePicture } from '@intake/pictures'
import { imageTypeOf } from '../../src/form/image-type.ts'
import { images } from '../support.ts'

/** The beginning of a file of the HEIF family: its major brand and its compatible brands. */
function heif(brands: string): Buffer {
  const [major = '', ...compatible] = brands.split(' ')
  const all = [major, '\0\0\0\0', ...compatible].map((brand) => brand.padEnd(4))
  const size = Buffer.alloc(4)
  size.writeUInt32BE(8 + 4 * all.length)
  const rest = Buffer.from('\0\0\0\x20metaheic')
  return Buffer.concat([size, Buffer.from(['ftyp', ...all].join(''), 'latin1'), rest])
}

function bmp(headerBytes: number): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.write('BM')
  bytes.writeUInt32LE(headerBytes, 14)
  return bytes
}

const hex = (text: string) => Buffer.from(text, 'hex')

/** The formats, each in all its common forms. */
const forms: Record<string, (Buffer | string)[]> = {
  // JFIF, Exif, no application data, and Adobe
  'image/jpeg': ['e000104a464946', 'e1001845786966', 'db0043', 'ee000e41646f6265'].map((segment) =>
    hex(`ffd8ff${segment}`),
  ),
  // The last one is of an iPhone.
  'image/png': [images.png, images.animatedPng, hex('89504e470d0a1a0a0000000443674249')],
  'image/gif': [images.gif, 'GIF87a'],
  'image/webp': [images.webp, 'RIFF\x1a\0\0\0WEBPVP8 ', 'RIFF\x1a\0\0\0WEBPVP8X\n\0\0\0\x02'],
  'image/bmp': [12, 16, 40, 52, 56, 64, 108, 124].map(bmp),
  'image/tiff': ['II*\0\x08\0\0\0', 'MM\0*\0\0\0\x08', 'II+\0\x08\0\0\0', 'MM\0+\0\x08\0\0'],
  'image/heic': [
    ...'heic heix heim heis hevc hevx hevm hevs'
      .split(' ')
      .map((brand) => heif(`${brand} mif1 ${brand}`)),
    ...['heic mif1 MiHB MiHA heix MiHE heic', 'mif1 mif1 heic hevc', 'msf1 msf1 hevc'].map(heif),
  ],
  'image/heif': ['mif1 mif1 miaf', 'msf1 msf1 iso8'].map(heif),
  'image/avif': [
    'avif mif1 avif miaf MA1B',
    'avis msf1 avis avif miaf',
    'mif1 mif1 avif miaf',
    'msf1 msf1 avis',
    'avif heic',
  ].map(heif),
}

t.test('every accepted format is recognised in all its common forms', async (t) => {
  for (const [type, bytes] of Object.entries(forms)) {
    for (const [n, one] of bytes.entries()) t.equal(imageTypeOf(Buffer.from(one)), type, `${n}`)
  }
  t.same(Object.keys(forms).toSorted(), [...imageTypes.keys()].toSorted())
})

t.test('every accepted format can be examined', async (t) => {
  for (const type of imageTypes.keys()) {
    t.throws(() => examinePicture(Buffer.alloc(0), type), { message: /^(?!its format)/ }, type)
  }
})

t.test('everything else is no image', async (t) => {
  const texts = '|BMW cars are fine, and this is a text|GIF|GIFT|%PDF-1.7\n|PK\x03\x04'.split('|')
  for (const bytes of [
    ...[...texts, '\0'.repeat(5_000), 'RIFF\x1a\0\0\0WAVEfmt '].map((text) => Buffer.from(text)),
    ...['mp42 isom mp42', 'qt qt', 'M4A mp42', 'crx isom'].map(heif),
    hex('89504e470a'),
    hex('ffd8'),
    heif('heic').subarray(0, 11),
    heif('heic').subarray(0, 15),
  ]) {
    t.equal(imageTypeOf(bytes), undefined, bytes.toString('latin1', 0, 20))
  }
})

t.test('the brands end with their box, even if it declares another size', async (t) => {
  const behind = Buffer.concat([heif('mp42 isom'), Buffer.from('heicheicheic')])
  t.equal(imageTypeOf(behind), undefined)
  for (const size of [0, 1, 7, 8, 15, 16, 0xffffffff]) {
    const bytes = heif('mif1 avif')
    bytes.writeUInt32BE(size)
    t.ok(imageTypeOf(bytes)?.startsWith('image/'), String(size))
  }
})
