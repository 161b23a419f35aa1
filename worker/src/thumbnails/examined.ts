/**
 * Why a picture has no thumbnail. `format`: it is of a format that is not decoded. `bytes` and
 * `pixels`: it is too large. `unreadable`: its structure cannot be walked. `undecodable`: the
 * decoder refused it. `differs`: the object is not the picture that was accepted. These never
 * change. The others are given when the attempts have been used up: `missing`, the object is not
 * there; `decoder_ended`, the decoder took too long, too much memory, or was killed.
 */
export const pictureErrors = [
  'format',
  'bytes',
  'pixels',
  'unreadable',
  'undecodable',
  'differs',
  'missing',
  'decoder_ended',
] as const
export type PictureError = (typeof pictureErrors)[number]

/** What was found out about a picture. It has either a thumbnail or an error. */
export interface Examined {
  /** Size in pixels, upright where the picture was decoded; undefined if it cannot be read. */
  width?: number | undefined
  height?: number | undefined
  thumbnail?: Buffer
  error?: PictureError
}

/** The longer side of a thumbnail, in pixels. */
export const thumbnailPixels = 400
/** A limit that no thumbnail of this size reaches. */
export const thumbnailBytesMax = 1024 * 1024
/** Larger pictures get no thumbnail, because the worker holds a picture in memory. */
export const pictureBytesMax = 16 * 1024 * 1024
