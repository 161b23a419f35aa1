/** A failure of the setup. The message is for an operator. */
export class SetupError extends Error {
  override name = 'SetupError'
}
