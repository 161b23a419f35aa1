/** The code of an error reply: its first word, in capitals (`READONLY You can't write …`). */
export function replyCode(error: Error): string {
  return /^[A-Z]+/.exec(error.message)?.[0] ?? ''
}
