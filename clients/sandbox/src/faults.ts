import { Type, type Static } from 'typebox'
import { dayMs, errorCatalogue, IntakeError } from '@intake/contract'
import { compileSchema } from '@intake/contract/schemas'

const yes = Type.Literal(true)
const code = Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' })
const indexes = Type.Array(Type.Integer({ minimum: 0, maximum: 499 }), {
  minItems: 1,
  maxItems: 500,
})
export const delayMsMax = 25_000

const Fault = Type.Object(
  {
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    code: Type.Optional(code),
    retryAfter: Type.Optional(
      Type.Union([
        Type.Integer({ minimum: 0, maximum: 1_000_000 }),
        Type.String({ pattern: '^[ -~]{1,64}$' }),
      ]),
    ),
    location: Type.Optional(Type.String({ pattern: '^[!-~]{1,2000}$' })),
    store: Type.Optional(yes),
    loseResponse: Type.Optional(yes),
    cutResponse: Type.Optional(yes),
    resetAfterBytes: Type.Optional(Type.Integer({ minimum: 0, maximum: 64 * 1024 * 1024 })),
    rejectEntries: Type.Optional(
      Type.Object({ code, indexes: Type.Optional(indexes) }, { additionalProperties: false }),
    ),
    dropEntries: Type.Optional(
      Type.Object({ indexes: Type.Optional(indexes) }, { additionalProperties: false }),
    ),
    delayMs: Type.Optional(Type.Integer({ minimum: 1, maximum: delayMsMax })),
    clockOffsetMs: Type.Optional(Type.Integer({ minimum: -366 * dayMs, maximum: 366 * dayMs })),
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    every: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    path: Type.Optional(
      Type.Union([
        Type.Literal('/api/log'),
        Type.Literal('/api/log/batch'),
        Type.Literal('/api/feedback'),
      ]),
    ),
  },
  { additionalProperties: false },
)

export type Operation = NonNullable<Static<typeof Fault>['path']>

/**
 * A fault that is applied to requests. Exactly one effect is set: `status`, `loseResponse`,
 * `cutResponse`, `resetAfterBytes`, `rejectEntries`, `dropEntries`, `clockOffsetMs`, or `delayMs`
 * alone.
 */
export type Fault = Static<typeof Fault>

const effects = [
  'status',
  'loseResponse',
  'cutResponse',
  'resetAfterBytes',
  'rejectEntries',
  'dropEntries',
  'clockOffsetMs',
] as const satisfies (keyof Fault)[]

/** The effect that each of these fields requires. */
const belongsTo: Partial<Record<keyof Fault, (typeof effects)[number]>> = {
  code: 'status',
  retryAfter: 'status',
  location: 'status',
  store: 'status',
}

const validate = compileSchema(Fault)

/**
 * Validates a fault.
 *
 * @throws {IntakeError} `invalid_request`, with a pointer to each invalid field
 */
export function parseFault(value: unknown): Fault {
  const fault = validate(value)
  const chosen = effects.filter((effect) => fault[effect] !== undefined)
  if (chosen.length > 1) throw invalid(chosen, `only one of ${effects.join(', ')} may be set`)
  const [effect] = chosen
  if (effect === undefined && fault.delayMs === undefined) {
    throw invalid([''], `one of ${effects.join(', ')}, delayMs must be set`)
  }
  const strays = Object.entries(belongsTo).filter(
    ([field, owner]) => fault[field as keyof Fault] !== undefined && owner !== effect,
  )
  if (strays.length > 0) {
    throw invalid(
      strays.map(([field]) => field),
      'needs status',
    )
  }
  if (effect === 'clockOffsetMs' && Object.keys(fault).length > 1) {
    throw invalid(['clockOffsetMs'], 'stands alone: it applies until the next one')
  }
  if (isAboutEntries(fault) && (fault.path ?? '/api/log/batch') !== '/api/log/batch') {
    throw invalid(['path'], 'must be /api/log/batch, because only batches have entries')
  }
  return fault
}

const isAboutEntries = ({ rejectEntries, dropEntries }: Fault) =>
  rejectEntries !== undefined || dropEntries !== undefined

function invalid(fields: readonly string[], detail: string): IntakeError {
  const errors = fields.map((field) => ({ pointer: field === '' ? '' : `/${field}`, detail }))
  return new IntakeError('invalid_request', 'This is not a fault of the sandbox.', { errors })
}

export interface Faults {
  /**
   * Adds a fault for coming requests.
   *
   * @throws {IntakeError} `queue_full` when there are too many
   */
  add(fault: Fault): void
  /**
   * Call it once for each request of an operation. Returns the oldest fault that applies to the
   * request; undefined if none applies. Removes the fault after its last use.
   */
  take(path: Operation): Fault | undefined
  list(): Fault[]
  clear(): void
}

const faultsMax = 1_000

export function createFaults(): Faults {
  const pending: { fault: Fault; left: number; seen: number }[] = []
  return {
    add(fault) {
      if (pending.length >= faultsMax) {
        throw new IntakeError(
          'queue_full',
          `There are ${faultsMax} faults; empty the sandbox first.`,
        )
      }
      pending.push({ fault, left: fault.times ?? 1, seen: 0 })
    },

    take(path) {
      for (const [index, one] of pending.entries()) {
        const { fault } = one
        const applies = isAboutEntries(fault) ? '/api/log/batch' : fault.path
        if (applies !== undefined && applies !== path) continue
        one.seen++
        if (one.seen % (fault.every ?? 1) !== 0) continue
        one.left--
        if (one.left === 0) pending.splice(index, 1)
        return fault
      }
      return undefined
    },

    list: () => pending.map(({ fault, left }) => ({ ...fault, times: left })),
    clear: () => void pending.splice(0),
  }
}

const codes = Object.keys(errorCatalogue) as (keyof typeof errorCatalogue)[]

/**
 * Returns the error code in the response that a fault with a status causes. Undefined if the
 * response has no code, because it is an HTML page such as a proxy sends.
 */
export function codeOf({ status, code: given }: Fault): string | undefined {
  if (given !== undefined) return given
  return status === 400
    ? 'invalid_request'
    : codes.find((one) => errorCatalogue[one].status === status)
}

/** Returns the `Retry-After` that a fault with a status causes; undefined if there is none. */
export function retryAfterOf(fault: Fault): string | undefined {
  if (fault.retryAfter !== undefined) return String(fault.retryAfter)
  const known = errorCatalogue[codeOf(fault) as keyof typeof errorCatalogue]
  if (known === undefined) return fault.status === 503 ? '1' : undefined
  return known.retryable ? '1' : known.retryAfterSeconds?.toString()
}
