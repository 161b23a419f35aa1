import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { failable, type Turns } from '@intake/http-edge'
import type { BeforeBody, Operation } from '../body/before-body.ts'
import type { KeyLimiter } from '../admission/key-limits.ts'
import type { ByteBudget } from '../body/byte-budget.ts'
import type { Settled } from '../report/outcomes.ts'
import { requireLease } from '../request.ts'

/** What the routes share. */
export interface RouteOptions {
  beforeBody: BeforeBody
  /** The memory for the bodies of this kind of record. */
  budget: ByteBudget
  turns: Turns
}

/** What the routes for log events share. */
export interface JsonRouteOptions extends RouteOptions {
  limiter: Pick<KeyLimiter, 'requireShare'>
  bodyBytesMax: number
}

/**
 * Registers a `POST` route that accepts records.
 *
 * @param route.schema the JSON Schema of the response body
 * @param route.accept reads the request, and stores and counts its records
 * @param route.print prints the body of the response; default: the serializer that Fastify makes
 * from the schema
 */
export function acceptRoute<Body>(
  app: FastifyInstance,
  beforeBody: BeforeBody,
  route: Operation & {
    url: string
    status: 201 | 207
    schema: object
    accept: (request: FastifyRequest) => Promise<Settled<Body>>
    print?: (body: never) => string
  },
): void {
  const { url, bodyBytesMax, status, schema, accept, print } = route

  const respond = (request: FastifyRequest, reply: FastifyReply): Promise<Body> =>
    accept(request).then(({ body }) => {
      reply.code(status)
      return body
    })

  app.post(
    url,
    {
      bodyLimit: bodyBytesMax,
      onRequest: beforeBody(route),
      ...(print && { serializerCompiler: () => print as (body: unknown) => string }),
      schema: { response: { [status]: schema } },
    },
    // The bytes of the body remain leased until the handler has finished, because it uses the
    // memory even after the client has disconnected. When it takes too long, the request fails, but
    // the handler keeps running.
    (request, reply) =>
      failable(request.exchange, requireLease(request).retainWhile(respond(request, reply))),
  )
}
