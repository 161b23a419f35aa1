import type { CostlyPicture } from './bytes.ts'
import { jpegOfManyParts, craftedJpeg } from './jpeg.ts'
import { pngOfManyParts, craftedPng } from './png.ts'
import { gifAndWebpOfManyParts, craftedGifAndWebp } from './gif-and-webp.ts'
import { craftedTiff } from './tiff.ts'
import { heicOfManyParts, craftedHeic } from './heic.ts'

export type { CostlyPicture }

/** Files of the maximum size that have as many parts, or need as many steps, as possible. */
export const picturesOfManyParts: readonly CostlyPicture[] = [
  ...jpegOfManyParts,
  ...pngOfManyParts,
  ...gifAndWebpOfManyParts,
  ...heicOfManyParts,
]

/** Files in which a few bytes cause much work. */
export const craftedPictures: readonly CostlyPicture[] = [
  ...craftedJpeg,
  ...craftedPng,
  ...craftedGifAndWebp,
  ...craftedTiff,
  ...craftedHeic,
]
