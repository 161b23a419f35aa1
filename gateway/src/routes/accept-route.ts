import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RecordKind } from '@intake/contract'
import { requireCapacity, type Admission } from '../admission/admission.ts'
import type { KeyLimiter } from '../admission/key-limits.ts'
import { requireAllowance } from '../admission/limit-rate.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import type { ByteBudget } from '../body/byte-budget.ts'
import type { Settled } from '../report/outcomes.ts'

/** What the routes of one kind of record share. */
export interface RouteOptions {
  admission: Admission
  limiter: KeyLimiter
  budget: ByteBudget
}

/**
 * Registers a `POST` route that accepts records. Before the route reads the body, it checks the
 * limits of the API key and the capacity of the queue, and opens a lease (see `leaseBody`).
 *
 * @param route.bodyBytesMax the maximum size of the body as it is sent
 * @param route.readsPast whether bytes beyond `bodyBytesMax` are read and discarded
 * @param route.schema the JSON Schema of the response body
 * @param route.accept reads the request, and stores and counts its records
 * @param route.print prints the body of the response; default: the serializer that Fastify makes
 * from the schema
 */
export function acceptRoute<Body>(
  app: FastifyInstance,
  { admission, limiter, budget }: RouteOptions,
  route: {
    url: string
    kind: RecordKind
    bodyBytesMax: number
    readsPast?: (request: FastifyRequest) => boolean
    status: 201 | 207
    schema: object
    accept: (request: FastifyRequest) => Promise<Settled<Body>>
    print?: (body: never) => string
  },
): void {
  const { url, kind, bodyBytesMax, readsPast, status, schema, accept, print } = route
  app.post(
    url,
    {
      bodyLimit: bodyBytesMax,
      onRequest: [
        requireAllowance(limiter, kind),
        requireCapacity(admission, kind),
        leaseBody(budget, bodyBytesMax, readsPast),
      ],
      ...(print && { serializerCompiler: () => print as (body: unknown) => string }),
      schema: { response: { [status]: schema } },
    },
    whileLeased(async (request, reply) => {
      const { body } = await accept(request)
      reply.code(status)
      return body
    }),
  )
}
