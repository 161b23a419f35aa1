import { parseOrigin } from '@intake/contract'

/** The origins whose pages may send. `*`: all origins; undefined: only the gateway's own. */
export type AllowedOrigins = '*' | ReadonlySet<string> | undefined

/**
 * Reads `CORS_ORIGINS`.
 *
 * @throws {RangeError} if the list is wrong; the message is the reason
 */
export function parseCorsOrigins(text: string | undefined): AllowedOrigins {
  if (text === undefined) return undefined
  const entries = text.split(',').map((entry) => entry.trim())
  if (entries.length === 1 && entries[0] === '*') return '*'
  const origins = entries.map(parseOrigin)
  if (origins.includes(undefined)) {
    throw new RangeError(
      'CORS_ORIGINS must be * or a list of origins such as https://app.example, without paths',
    )
  }
  return new Set(origins as string[])
}
