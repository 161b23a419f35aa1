import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { examinePicture, PictureError } from '@intake/pictures'
import { thumbnailPixels, type Examined } from '../examined.ts'

/**
 * The only formats that are decoded. Everything else that libvips could read is blocked, such as
 * TIFF, SVG and PDF. HEIF and AVIF are blocked, too: their decoders allowed remote code execution
 * in August 2026.
 */
const loaders = new Map([
  ['image/jpeg', 'VipsForeignLoadJpegBuffer'],
  ['image/png', 'VipsForeignLoadPngBuffer'],
  ['image/webp', 'VipsForeignLoadWebpBuffer'],
  ['image/gif', 'VipsForeignLoadNsgifBuffer'],
])
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: [...loaders.values()] })
sharp.cache(false)
sharp.concurrency(1)

/** A picture in a format that must be decoded as a whole takes four bytes per pixel: 200 MB. */
const pixelsMax = 50_000_000
/** Of the longer side, in pixels: each row costs time, even if it has one pixel. */
const sideMax = 65_535

export interface Request {
  contentType: string
  sha256: string
}

/**
 * Finds the size of a picture without decoding it, then makes its thumbnail: upright, without
 * metadata, and of an animation only the first image.
 *
 * @throws {Error} when the decoder lacks memory
 */
export async function makeThumbnail(
  bytes: Buffer,
  { contentType, sha256 }: Request,
): Promise<Examined> {
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) return { error: 'differs' }
  const walked = walk(bytes, contentType)
  if (walked === undefined) return { error: 'unreadable' }
  const { width, height } = walked
  // The limits apply even to formats that are not decoded here. The page's lists show small
  // pictures of such a format without a thumbnail, so a browser decodes the pictures themselves.
  if (width * height > pixelsMax || Math.max(width, height) > sideMax)
    return { width, height, error: 'pixels' }
  if (!loaders.has(contentType)) return { width, height, error: 'format' }
  try {
    return await decode(walked.removeMetadata())
  } catch (error) {
    // A lack of memory says nothing about the picture. So the error is thrown, which ends the
    // process. libvips and its decoders report a lack of memory only in the text of the error.
    if (/memory|allocate/i.test((error as Error).message)) throw error
    return { width, height, error: 'undecodable' }
  }
}

function walk(bytes: Buffer, contentType: string) {
  try {
    return examinePicture(bytes, contentType)
  } catch (error) {
    if (error instanceof PictureError) return undefined
    throw error
  }
}

/** Decodes a picture. A truncated picture is decoded as far as its bytes go. */
export async function decode(bytes: Buffer): Promise<Examined> {
  const image = sharp(bytes, {
    limitInputPixels: pixelsMax,
    sequentialRead: true,
    failOn: 'none',
  })
  const { autoOrient: upright } = await image.metadata()
  const thumbnail = await image
    .autoOrient()
    .resize(thumbnailPixels, thumbnailPixels, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 75 })
    .toBuffer()
  return { width: upright.width, height: upright.height, thumbnail }
}
