import { Type, type Static } from 'typebox'
import { errorCatalogue } from '../errors.ts'

const FieldError = Type.Object(
  {
    pointer: Type.String({ description: 'JSON pointer (RFC 6901) to the field.' }),
    detail: Type.String({ description: 'What the field must be.' }),
  },
  { description: 'Why a field is invalid.' },
)

export const FieldErrors = Type.Array(FieldError, { description: 'The invalid fields.' })

/**
 * A string, not a closed list, because codes may be added and shipped apps cannot be changed: such
 * an app would fail to read a response with a new code, even if it says that other entries are
 * stored.
 */
export const errorCode = Type.String({
  description:
    'Why it was refused. Codes may be added; treat an unknown one by its status, and an entry with ' +
    `one as rejected. Now: ${Object.keys(errorCatalogue)
      .map((code) => `\`${code}\``)
      .join(', ')}.`,
})

/**
 * Without the `date-time` format: code of some generators for it cannot read fractions of a second,
 * and so nothing of the response.
 */
export const serverTime = Type.String({
  description:
    "With `id_time_out_of_range`: the time of the gateway's clock, ISO 8601 in UTC with milliseconds.",
})

export const Problem = Type.Object(
  {
    type: Type.String({ description: '`urn:intake:error:` and the code.' }),
    title: Type.String({ description: 'What the code means.' }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    detail: Type.String({ description: 'What is wrong with this request.' }),
    code: errorCode,
    errors: FieldErrors,
    request_id: Type.String({ description: 'Identifies this request in the logs of the gateway.' }),
    server_time: Type.Optional(serverTime),
  },
  { description: 'Why a request was refused (RFC 9457).' },
)
export type Problem = Static<typeof Problem>
