import { bundlePattern } from '@intake/contract'

/**
 * @param allowed bundle identifiers, or prefixes with `.*` at their end: `com.example.*` allows
 * `com.example.app`, but not `com.example`; empty means all applications
 */
export function allowsBundle(allowed: readonly string[], bundleIdentifier: string): boolean {
  if (allowed.length === 0 || allowed.includes(bundleIdentifier)) return true
  return allowed.some(
    (entry) => entry.endsWith('.*') && bundleIdentifier.startsWith(entry.slice(0, -1)),
  )
}

/**
 * Returns the form in which a key's bundle identifier is stored and compared.
 *
 * @throws {RangeError} if it is empty, or has a `*` that is not part of a `.*` at its end
 */
export function normaliseBundle(entry: string): string {
  if (bundlePattern.test(entry)) return entry.toWellFormed()
  throw new RangeError(
    `${JSON.stringify(entry)} is no bundle identifier; * may only follow the last dot`,
  )
}
