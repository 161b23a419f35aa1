import { PictureError } from './picture-error.ts'
import type { Walk } from './walk.ts'
import { walkBmp } from './formats/bmp.ts'
import { walkGif } from './formats/gif.ts'
import { walkHeif } from './formats/heif.ts'
import { walkJpeg } from './formats/jpeg.ts'
import { walkPng } from './formats/png.ts'
import { walkTiff } from './formats/tiff.ts'
import { walkWebp } from './formats/webp.ts'

/** What can be learned from the structure of a picture's file. No pixel is decoded. */
export interface Picture {
  /** The width in pixels of the largest image in the file, before it is cropped or turned. */
  width: number
  height: number
  /** True if the file certainly has no metadata, so that `removeMetadata` would change nothing. */
  isClean: boolean
  /**
   * Removes everything that is not needed to render the picture: positions, maker notes, serial
   * numbers, comments, previews, and what follows the end of the image. Pixels, colours and the
   * orientation remain. It edits the bytes in place, and returns the part of them that remains.
   * Call it only once.
   */
  removeMetadata(): Buffer
}

const walks: ReadonlyMap<string, (bytes: Buffer) => Pick<Walk, 'width' | 'height' | 'edit'>> =
  new Map([
    ['image/jpeg', walkJpeg],
    ['image/png', walkPng],
    ['image/gif', walkGif],
    ['image/webp', walkWebp],
    ['image/heic', walkHeif],
    ['image/heif', walkHeif],
    ['image/avif', walkHeif],
    ['image/bmp', walkBmp],
    ['image/tiff', walkTiff],
  ])

/**
 * Walks the structure of a picture. It changes nothing, reads nothing outside `bytes`, and takes
 * time in proportion to the number of bytes. A file that was cut off within its image data is
 * accepted, and examined up to its end.
 *
 * @param contentType the format, as the first bytes of the file show it
 * @throws {PictureError} when the structure cannot be read
 */
export function examinePicture(bytes: Buffer, contentType: string): Picture {
  const walk = walks.get(contentType)
  if (walk === undefined) throw new PictureError('its format is not known')
  const { width, height, edit } = walk(bytes)
  if (width < 1 || height < 1) throw new PictureError('it has no size')
  return {
    width,
    height,
    isClean: edit.isEmpty(bytes.length),
    removeMetadata: () => edit.apply(bytes),
  }
}
