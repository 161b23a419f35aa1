/** Why a picture has no thumbnail (docs/pictures.md). */
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

/** The longer side of a thumbnail. */
export const thumbnailPixels = 400
/** Larger pictures get no thumbnail, because the console holds a picture in memory. */
export const pictureBytesMax = 16 * 1024 * 1024
