/**
 * A reason not to start that a person can act on. The message is one complete sentence and is shown
 * as it is, without a stack.
 */
export class StartError extends Error {
  override name = 'StartError'
}
