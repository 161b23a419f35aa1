/**
 * Fills `bytes` with the platform's random values. Uses `Math.random` on platforms without them,
 * such as Hermes.
 */
export function fillRandom(bytes: Uint8Array): void {
  if (typeof crypto !== 'undefined' && typeof crypto.getRandomValues === 'function') {
    crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>)
    return
  }
  for (let at = 0; at < bytes.length; at++) bytes[at] = Math.random() * 256
}
