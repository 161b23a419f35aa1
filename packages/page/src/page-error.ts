/** A request that gets no page, and why, in words for its reader. It contains nothing from the request. */
export class PageError extends Error {
  override readonly name = 'PageError'
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}
