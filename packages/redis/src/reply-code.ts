/**
 * Returns the code of an error reply: its first word, in capitals (`READONLY You can't write …`);
 * empty if there is none.
 */
export function replyCode(error: Error): string {
  return /^[A-Z]+/.exec(error.message)?.[0] ?? ''
}

/**
 * Whether a command failed because its key has a wrong value: a value of another type, or a value
 * that is not an integer.
 */
export function isDamaged(error: Error): boolean {
  return /^(WRONGTYPE|ERR (hash )?value is not an integer|ERR increment or decrement)/.test(
    error.message,
  )
}
