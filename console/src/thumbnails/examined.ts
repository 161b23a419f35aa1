/**
 * Why a picture has no thumbnail. These reasons never change:
 *
 * - `format`: pictures of its format are not decoded;
 * - `bytes`, `pixels`: it is too large;
 * - `unreadable`: its structure cannot be read;
 * - `differs`: the object is not the picture that was accepted.
 *
 * These reasons are stored after the last attempt:
 *
 * - `missing`: the object does not exist;
 * - `undecodable`: the decoder refused it, for a reason that is not known;
 * - `decoder_ended`: the decoder took too long or too much memory, or was killed.
 */
export const thumbnailErrors = [
  'format',
  'bytes',
  'pixels',
  'unreadable',
  'undecodable',
  'differs',
  'missing',
  'decoder_ended',
] as const
export type ThumbnailError = (typeof thumbnailErrors)[number]

/** What was found out about a picture. It has either a thumbnail or an error. */
export interface Examined {
  /**
   * The size in pixels; undefined if it cannot be read. If the picture was decoded, this is its
   * size after it was turned upright.
   */
  width?: number | undefined
  height?: number | undefined
  thumbnail?: Buffer
  error?: ThumbnailError
}

/** The longer side of a thumbnail, in pixels. */
export const thumbnailPixels = 400
/**
 * Maximum size of a picture in bytes. Larger pictures get no thumbnail, because the console holds a
 * picture in memory.
 */
export const pictureBytesMax = 16 * 1024 * 1024
