import { createRequire } from 'node:module'
import sharp from 'sharp'

interface HeifImage {
  get_width(): number
  get_height(): number
  display(
    into: { data: Uint8ClampedArray; width: number; height: number },
    done: (shown: object | null) => void,
  ): void
}
const libheif = createRequire(import.meta.url)('libheif-js/wasm-bundle') as {
  HeifDecoder: new () => { decode(bytes: Buffer): HeifImage[] }
}

/** Decodes the pixels with an independent decoder. For GIF, WebP and TIFF it decodes all frames. */
export async function decode(bytes: Buffer, type: string): Promise<Buffer> {
  if (type === 'image/heic') return decodeHeic(bytes)
  // A BMP is not compressed. Its rows begin at the position that the header names.
  if (type === 'image/bmp') {
    const from = bytes.readUInt32LE(10)
    return bytes.subarray(from, from + bytes.readUInt32LE(34))
  }
  const isAnimated = type === 'image/gif' || type === 'image/webp' || type === 'image/tiff'
  return sharp(bytes, { animated: isAnimated, failOn: 'none' }).raw().toBuffer()
}

async function decodeHeic(bytes: Buffer): Promise<Buffer> {
  const [image] = new libheif.HeifDecoder().decode(bytes)
  if (image === undefined) throw new Error('libheif finds no image')
  const [width, height] = [image.get_width(), image.get_height()]
  const data = new Uint8ClampedArray(width * height * 4)
  await new Promise<void>((resolve, reject) => {
    image.display({ data, width, height }, (shown) =>
      shown ? resolve() : reject(new Error('no pixels')),
    )
  })
  return Buffer.from(data)
}
