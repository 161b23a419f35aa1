import t from 'tap'
import { imageTypes } from '@intake/contract'
import { examinePicture } from '@intake/pictures'
import { imageTypeOf } from '../../src/form/image-type.ts'
import { images } from '../support.ts'

/**
 * Creates the beginning of a file of the HEIF family: its major brand and its compatible brands.
 */
function heif(major: string, ...compatible: string[]): Buffer {
  const brands = [major, '\0\0\0\0', ...compatible]
  const size = Buffer.alloc(4)
  size.writeUInt32BE(8 + 4 * brands.length)
  const rest = Buffer.from('\0\0\0\x20metaheic')
  return Buffer.concat([size, Buffer.from(['ftyp', ...brands].join(''), 'latin1'), rest])
}

function bmp(headerBytes: number): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.write('BM')
  bytes.writeUInt32LE(headerBytes, 14)
  return bytes
}

t.test('every accepted format is recognised in all its common forms', async (t) => {
  const cases: [string, string, Buffer][] = [
    ['image/jpeg', 'JFIF', Buffer.from('ffd8ffe000104a464946', 'hex')],
    ['image/jpeg', 'Exif', Buffer.from('ffd8ffe1001845786966', 'hex')],
    ['image/jpeg', 'no application data', Buffer.from('ffd8ffdb0043', 'hex')],
    ['image/jpeg', 'Adobe', Buffer.from('ffd8ffee000e41646f6265', 'hex')],
    ['image/png', 'PNG', images.png],
    ['image/png', 'animated', images.animatedPng],
    ['image/png', 'of an iPhone', Buffer.from('89504e470d0a1a0a0000000443674249', 'hex')],
    ['image/gif', 'GIF89a, also animated', images.gif],
    ['image/gif', 'GIF87a', Buffer.from('GIF87a')],
    ['image/webp', 'lossless', images.webp],
    ['image/webp', 'lossy', Buffer.from('RIFF\x1a\0\0\0WEBPVP8 ')],
    ['image/webp', 'animated', Buffer.from('RIFF\x1a\0\0\0WEBPVP8X\n\0\0\0\x02')],
    ...[12, 16, 40, 52, 56, 64, 108, 124].map((bytes): [string, string, Buffer] => [
      'image/bmp',
      `header of ${bytes} bytes`,
      bmp(bytes),
    ]),
    ['image/tiff', 'little-endian', Buffer.from('II*\0\x08\0\0\0')],
    ['image/tiff', 'big-endian', Buffer.from('MM\0*\0\0\0\x08')],
    ['image/tiff', 'BigTIFF', Buffer.from('II+\0\x08\0\0\0')],
    ['image/tiff', 'big-endian BigTIFF', Buffer.from('MM\0+\0\x08\0\0')],
    ...['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs'].map(
      (brand): [string, string, Buffer] => ['image/heic', brand, heif(brand, 'mif1', brand)],
    ),
    ['image/heic', 'of an iPhone', heif('heic', 'mif1', 'MiHB', 'MiHA', 'heix', 'MiHE', 'heic')],
    ['image/heic', 'mif1 with heic', heif('mif1', 'mif1', 'heic', 'hevc')],
    ['image/heic', 'msf1 with hevc', heif('msf1', 'msf1', 'hevc')],
    ['image/heif', 'mif1', heif('mif1', 'mif1', 'miaf')],
    ['image/heif', 'msf1', heif('msf1', 'msf1', 'iso8')],
    ['image/avif', 'avif', heif('avif', 'mif1', 'avif', 'miaf', 'MA1B')],
    ['image/avif', 'a sequence', heif('avis', 'msf1', 'avis', 'avif', 'miaf')],
    ['image/avif', 'mif1 with avif', heif('mif1', 'mif1', 'avif', 'miaf')],
    ['image/avif', 'msf1 with avis', heif('msf1', 'msf1', 'avis')],
    ['image/avif', 'avif with heic', heif('avif', 'heic')],
  ]
  for (const [type, form, bytes] of cases) t.equal(imageTypeOf(bytes), type, `${type}: ${form}`)
  const shown = new Set(cases.map(([type]) => type))
  t.same(
    [...imageTypes.keys()].filter((type) => !shown.has(type)),
    [],
    'no format is missing',
  )
})

t.test('every accepted format can be examined', async (t) => {
  for (const type of imageTypes.keys()) {
    t.throws(() => examinePicture(Buffer.alloc(0), type), { message: /^(?!its format)/ }, type)
  }
})

t.test('everything else is no image', async (t) => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(5_000),
    Buffer.from('BMW cars are fine, and this is a text'),
    Buffer.from('GIF'),
    Buffer.from('GIFT'),
    Buffer.from('RIFF\x1a\0\0\0WAVEfmt '),
    Buffer.from('\x89PNG\n', 'latin1'),
    Buffer.from('%PDF-1.7\n'),
    Buffer.from('PK\x03\x04'),
    Buffer.from('ffd8', 'hex'),
    heif('mp42', 'isom', 'mp42'),
    heif('qt  ', 'qt  '),
    heif('M4A ', 'mp42'),
    heif('heic').subarray(0, 11),
    heif('heic').subarray(0, 15),
    heif('crx ', 'isom'),
  ]) {
    t.equal(imageTypeOf(bytes), undefined, bytes.toString('latin1', 0, 20))
  }
})

t.test('the brands end with their box, even if it declares another size', async (t) => {
  const behind = Buffer.concat([heif('mp42', 'isom'), Buffer.from('heicheicheic')])
  t.equal(imageTypeOf(behind), undefined)
  for (const size of [0, 1, 7, 8, 15, 16, 0xffffffff]) {
    const bytes = heif('mif1', 'avif')
    bytes.writeUInt32BE(size)
    t.ok(imageTypeOf(bytes)?.startsWith('image/'), String(size))
  }
})
