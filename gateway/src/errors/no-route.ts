import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorCatalogue, IntakeError } from '@intake/contract'
import { isPreflight } from '@intake/http-edge'
import { operationPaths, pathOf } from '../report/operation.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Sets `Allow` if the path has other methods. */
export function noRoute(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
): IntakeError {
  const path = pathOf(request.url)
  const allowed = methods.filter((method) => app.hasRoute({ method, url: path }))
  if (allowed.length === 0) return new IntakeError('not_found', nothingAt(path))
  reply.header('allow', allowed.join(', '))
  if (allowed.includes('POST') && isRefusedPreflight(request)) {
    return new IntakeError('preflight_refused', `${errorCatalogue.preflight_refused.title}.`)
  }
  return new IntakeError('method_not_allowed', 'The Allow header lists the methods of this path.')
}

/** With `CORS_ORIGINS`, no preflight request for a path that takes records arrives here. */
const isRefusedPreflight = ({ raw }: FastifyRequest) =>
  raw.headers['access-control-request-method'] !== undefined && isPreflight(raw)

const knownPaths = new Map([...operationPaths, '/docs'].map((path) => [plain(path), path]))

function nothingAt(path: string): string {
  const similar = knownPaths.get(plain(path))
  const hint = similar === undefined ? '.' : `: did you mean ${similar}?`
  return `There is nothing at this path${hint} The documentation is at /docs.`
}

/** Returns a path without what people often get wrong: `/api`, plurals, further slashes, case. */
function plain(path: string): string {
  const parts = path.toLowerCase().split('/')
  return parts
    .filter((part) => part !== '' && part !== 'api')
    .map((part) => part.replace(/e?s$/, ''))
    .join('/')
}
