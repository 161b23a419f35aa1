import { allowsBundle, type ApiKey } from '@intake/access'
import { IntakeError } from '@intake/contract'

/** @throws {IntakeError} `bundle_not_allowed` if the key may not write for the bundle identifier */
export function authorizeBundle(key: ApiKey, bundleIdentifier: string): void {
  if (allowsBundle(key.bundleIdentifiers, bundleIdentifier)) return
  throw new IntakeError('bundle_not_allowed', 'This API key is for other bundle identifiers.')
}
