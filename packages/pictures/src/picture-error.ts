/**
 * A file whose structure cannot be read, so that nobody can say what is in it. The message names the
 * place in the format, never a byte of the file.
 */
export class PictureError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PictureError'
  }
}
