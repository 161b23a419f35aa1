/**
 * Returns the size of a text in UTF-8. Counts the bytes itself, because Hermes has no
 * `TextEncoder`.
 */
export function textBytes(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) continue
    // The two units of a surrogate pair take four bytes together, so each counts as two.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}
