import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { loopbackOrigins, parseCorsOrigins } from '@intake/config'
import { IntakeError } from '@intake/contract'
import { isLoopbackHost } from '@intake/runtime'
import { sendProblem } from './control.ts'

/** The name that an Android emulator has for loopback of its machine. */
const emulatorHost = '10.0.2.2'

/**
 * Creates the function that refuses requests of web pages that are not on this machine, and returns
 * whether it has. It checks `Origin`; `Sec-Fetch-Site`, because a browser sends no `Origin` with a GET
 * for an image; and `Host`, because a foreign site can make its own name resolve to
 * 127.0.0.1 (DNS rebinding).
 *
 * @param origins further origins whose pages, and whose host, are accepted
 * @throws {RangeError} if one of them is not an origin
 */
export function createRefuseForeign(
  origins: readonly string[],
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const allowed = parseCorsOrigins([loopbackOrigins, ...origins].join(','))
  const nameOf = (host: string) => host.toLowerCase().replace(/:(?:\d+|\*)$/, '')
  const names = new Set(origins.map((origin) => nameOf(origin.replace(/^[^/]*\/\//, ''))))
  // Only HTTP/1.0 has no `Host`, and no browser sends that.
  const isKnownHost = (host: string | undefined) =>
    host === undefined ||
    isLoopbackHost(host) ||
    nameOf(host) === emulatorHost ||
    names.has(nameOf(host))
  const isKnownOrigin = ({ origin, ...headers }: IncomingHttpHeaders) =>
    origin === undefined
      ? // A link may lead here from any site.
        headers['sec-fetch-site'] !== 'cross-site' || headers['sec-fetch-mode'] === 'navigate'
      : typeof allowed === 'object' && allowed.has(origin)

  return ({ headers }, response) => {
    if (isKnownHost(headers.host) && isKnownOrigin(headers)) return false
    const detail =
      'The sandbox serves pages and names of this machine. Start it with --origin, such as ' +
      '--origin http://sandbox:3100, for others.'
    // So that the page can read the reason.
    response.setHeader('access-control-allow-origin', '*')
    sendProblem(response, new IntakeError('origin_not_allowed', detail))
    return true
  }
}
