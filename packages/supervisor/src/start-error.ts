/**
 * A reason not to start that a person can act on. The message is one complete sentence and is shown
 * as it is, without a stack.
 */
export class StartError extends Error {
  override name = 'StartError'
}

/** What a person is told of an error that is not one of ours. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
