import type { ApiKey } from '@intake/access'

export function stateOf(key: ApiKey): 'active' | 'suspended' | 'expired' | 'revoked' {
  const { revokedAt, suspendedAt, expiresAt } = key
  if (revokedAt !== null) return 'revoked'
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return 'expired'
  return suspendedAt === null ? 'active' : 'suspended'
}

/** The headings of `describeKey`. Standard output has only the keys, so print them as a note. */
export const headings = ['id', 'name', 'bundles', 'created', 'state', 'origins and limits']

/** Shows only the key's own limits; for any other, the default of the gateways applies. */
export function describeKey(key: ApiKey): string[] {
  const { id, name, bundleIdentifiers, origins, limits, createdAt } = key
  return [
    id,
    name,
    bundleIdentifiers.join(',') || 'all bundles',
    `created ${createdAt}`,
    describeState(key),
    ...(origins.length > 0 ? [`only pages of ${origins.join(',')}`] : []),
    ...Object.entries(limits).map(([limit, value]) => `${wordsOf(limit)}: ${value}`),
  ]
}

function describeState(key: ApiKey): string {
  const { expiresAt, suspendedAt, revokedAt } = key
  if (revokedAt !== null) return `revoked ${revokedAt}`
  const expiry = `expires ${expiresAt ?? 'never'}`
  return suspendedAt === null ? expiry : `suspended ${suspendedAt}, ${expiry}`
}

/** Converts a name such as `eventsPerDay` to words: `events per day`. */
const wordsOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
