/**
 * A failure to start that the user can fix. The message is a complete sentence and is shown without
 * a stack trace.
 */
export class StartError extends Error {
  override name = 'StartError'
}

/** Returns the message to show for a thrown value of any type. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
