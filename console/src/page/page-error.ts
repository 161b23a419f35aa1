/** The message is shown to the reader: it says why, and contains nothing from the request. */
export class PageError extends Error {
  override readonly name = 'PageError'
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}
