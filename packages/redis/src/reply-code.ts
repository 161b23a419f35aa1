/**
 * Returns the code of an error reply, such as `READONLY`. It is the word in capitals at the
 * beginning of the reply; empty if there is none.
 */
export function replyCode(error: Error): string {
  return /^[A-Z]+/.exec(error.message)?.[0] ?? ''
}

/**
 * Whether a command failed because its key has a wrong value: a value of another type, a value that
 * is not an integer, or an integer that the command would make too large or too small.
 */
export function isDamaged(error: Error): boolean {
  return /^(WRONGTYPE|ERR (hash )?value is not an integer|ERR increment or decrement)/.test(
    error.message,
  )
}
