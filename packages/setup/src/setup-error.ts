/** One sentence for a person. */
export class SetupError extends Error {
  override name = 'SetupError'
}
