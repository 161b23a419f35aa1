import { Type, type Static } from 'typebox'

export const FieldErrors = Type.Array(
  Type.Object({ pointer: Type.String(), detail: Type.String() }),
  { description: 'The invalid fields, as JSON pointers (RFC 6901).' },
)

export const serverTime = Type.String({
  format: 'date-time',
  description: "With `id_time_out_of_range`: the time of the gateway's clock.",
})

/** Every error response (RFC 9457, `application/problem+json`). */
export const Problem = Type.Object(
  {
    type: Type.String({ description: '`urn:intake:error:` and the code.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String({ description: 'One of the codes in docs/errors.md.' }),
    errors: FieldErrors,
    request_id: Type.String(),
    server_time: Type.Optional(serverTime),
  },
  { description: 'What went wrong.' },
)
export type Problem = Static<typeof Problem>
