/** A request gets no page. The message is shown: it says why, with nothing from the request. */
export class PageError extends Error {
  override readonly name = 'PageError'
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}
