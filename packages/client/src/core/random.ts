/**
 * Fills `bytes` with the platform's random values. If it has none (as Hermes), uses `Math.random`.
 */
export function fillRandom(bytes: Uint8Array): void {
  if (typeof crypto !== 'undefined' && typeof crypto.getRandomValues === 'function') {
    crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>)
    return
  }
  for (let at = 0; at < bytes.length; at++) bytes[at] = Math.random() * 256
}
