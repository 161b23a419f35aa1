import { parseOrigin } from '@intake/contract'

/** The origins whose pages may send. `*`: all origins; undefined: only the gateway's own. */
export type AllowedOrigins = '*' | { has(origin: string): boolean } | undefined

/** The origins of pages on this machine: those of development servers. */
export const loopbackOrigins =
  'http://localhost:*,https://localhost:*,http://127.0.0.1:*,http://[::1]:*'

/** @throws {RangeError} if the list is wrong; the message is the reason */
export function parseCorsOrigins(text: string | undefined): AllowedOrigins {
  if (text === undefined) return undefined
  const entries = text.split(',').map((entry) => entry.trim())
  if (entries.length === 1 && entries[0] === '*') return '*'
  const exact = new Set<string>()
  const withAnyPort = new Set<string>()
  for (const entry of entries) {
    const host = anyPort.exec(entry)?.[1]
    const origin = parseOrigin(host ?? entry)
    if (origin === undefined) {
      throw new RangeError(
        'CORS_ORIGINS must be * or a list of origins such as https://app.example or http://localhost:*, without paths',
      )
    }
    ;(host === undefined ? exact : withAnyPort).add(origin)
  }
  return { has: (origin) => exact.has(origin) || withAnyPort.has(origin.replace(/:\d+$/, '')) }
}

/** Matches scheme and host of an origin with any port, such as `http://localhost:*`. */
const anyPort = /^(https?:\/\/(?:\[[^\]]*\]|[^:]*)):\*$/i
