/** The first bytes of each file type; undefined matches any byte. */
const signatures: readonly [string, readonly (number | undefined)[]][] = [
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  // PNG, animated or not.
  ['image/png', [...Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')]],
  ['image/gif', [...Buffer.from('GIF8')]],
  ['image/webp', [...Buffer.from('RIFF'), ...any(4), ...Buffer.from('WEBP')]],
  // The second header of a BMP begins with its own size in four bytes. The size is below 256, so
  // its three upper bytes are zero. Without this check, a text that begins with BM would count as
  // an image.
  ['image/bmp', [...Buffer.from('BM'), ...any(13), 0, 0, 0]],
  ['image/tiff', [...Buffer.from('II*\0')]],
  ['image/tiff', [...Buffer.from('MM\0*')]],
  ['image/tiff', [...Buffer.from('II+\0')]],
  ['image/tiff', [...Buffer.from('MM\0+')]],
]

function any(bytes: number): undefined[] {
  return Array.from({ length: bytes })
}

/** The brands of the HEIF family, for single images and for sequences. */
const brands: ReadonlyMap<string, string> = new Map([
  ...['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs'].map(
    (brand) => [brand, 'image/heic'] as const,
  ),
  ['avif', 'image/avif'],
  ['avis', 'image/avif'],
])
/** Brands that name only the family of formats, not the format. */
const commonBrands = new Set(['mif1', 'msf1'])

/** No real file needs more. */
const brandBytesMax = 1_024

/** Returns the media type by the first bytes; undefined if it is not an accepted image. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const found = signatures.find(([, signature]) =>
    signature.every((byte, at) => byte === undefined || bytes[at] === byte),
  )
  return found === undefined ? heifTypeOf(bytes) : found[0]
}

/** The major brand comes first. */
function heifTypeOf(bytes: Buffer): string | undefined {
  if (bytes.length < 16 || bytes.toString('latin1', 4, 8) !== 'ftyp') return undefined
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, brandBytesMax)
  const found = [bytes.toString('latin1', 8, 12)]
  // The bytes between the major brand and the other brands are the version.
  for (let at = 16; at + 4 <= end; at += 4) found.push(bytes.toString('latin1', at, at + 4))
  const brand = found.find((one) => brands.has(one))
  if (brand !== undefined) return brands.get(brand)
  return found.some((one) => commonBrands.has(one)) ? 'image/heif' : undefined
}
