/**
 * A failure to start that the user can fix. The message is a complete sentence and is shown without
 * a stack trace.
 */
export class StartError extends Error {
  override name = 'StartError'
}

/** The message to show for any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
