/**
 * Fills `words` with the platform's random values. Uses `Math.random` on platforms without them,
 * such as Hermes.
 */
export const fillRandom = (words: Uint16Array): void => {
  if (typeof crypto !== 'undefined' && typeof crypto.getRandomValues === 'function') {
    crypto.getRandomValues(words as Uint16Array<ArrayBuffer>)
    return
  }
  for (let at = 0; at < words.length; at++) words[at] = Math.random() * 0x10000
}
