/**
 * The error for a file whose structure cannot be read, so that its content is not known. The
 * message names the place in the format, never a byte of the file.
 */
export class PictureError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PictureError'
  }
}
