/** A failure to start that the user can fix, so it is shown without a stack trace. */
export class StartError extends Error {
  override name = 'StartError'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
