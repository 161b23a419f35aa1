import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Accept, Steps } from '../accept/accept.ts'
import { requireCapacity, type Admission } from '../admission/admission.ts'
import type { KeyLimiter } from '../admission/key-limits.ts'
import { requireAllowance } from '../admission/limit-rate.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import type { ByteBudget } from '../body/byte-budget.ts'

/** What the routes of one kind of record share. */
export interface RouteOptions {
  accept: Accept
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
 * @param route.respond makes the body of the response
 */
export function acceptRoute<Submission, Prepared, Identified>(
  app: FastifyInstance,
  { accept, admission, limiter, budget }: RouteOptions,
  route: {
    url: string
    steps: Steps<Submission, Prepared, Identified>
    bodyBytesMax: number
    readsPast?: (request: FastifyRequest) => boolean
    status: 201 | 207
    /** The JSON Schema of the response body. */
    schema: object
    respond: (accepted: { submission: Submission; identified: Identified }) => object
    /**
     * Prints the body of the response; default: the serializer that Fastify makes from the schema.
     */
    print?: (body: never) => string
  },
): void {
  const { url, steps, bodyBytesMax, readsPast, status, schema, respond, print } = route
  const { kind } = steps
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
      const accepted = await accept(steps, request)
      reply.code(status)
      return respond(accepted)
    }),
  )
}
