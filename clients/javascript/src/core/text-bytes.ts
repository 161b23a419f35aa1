/**
 * Returns the size of a text in UTF-8. Counts the bytes itself, because Hermes has no
 * `TextEncoder`. The two units of a surrogate pair take four bytes together, so each counts as two.
 */
export const textBytes = (text: string): number =>
  text.replace(/[^\0-\u07ff\ud800-\udfff]/g, 'xxx').replace(/[^\0-\x7f]/g, 'xx').length
