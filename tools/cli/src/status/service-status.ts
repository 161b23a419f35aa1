import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { helpOf } from '@intake/health/problem-catalogue'
import type { Address } from './addresses.ts'

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
const number = Type.Number()
const byKind = <Schema extends Parameters<typeof Type.Record>[1]>(schema: Schema) =>
  Type.Record(Type.String(), schema)
const state = Type.Union([Type.Literal('ok'), Type.Literal('degraded'), Type.Literal('down')])

const Problem = Type.Object({
  code: Type.String(),
  since: Type.String(),
  detail: Type.String(),
  help: Type.String(),
})

/** What the command uses of `/status`. With `--json` it also prints all other members. */
export const ServiceStatus = Type.Object({
  service: Type.Union([Type.Literal('gateway'), Type.Literal('worker'), Type.Literal('console')]),
  state,
  problems: Type.Array(Problem),
  version: Type.String(),
  started_at: Type.String(),
  accepted_per_second: Type.Optional(byKind(number)),
  refused_per_second: Type.Optional(number),
  requests_in_flight: Type.Optional(number),
  connections: Type.Optional(Type.Object({ open: number, max: number })),
  redis: Type.Optional(
    orNull(Type.Object({ memory_used_bytes: number, memory_max_bytes: number })),
  ),
  backlog: Type.Optional(
    byKind(
      orNull(
        Type.Object({
          frames: Type.Object({ waiting: number, active: number, delayed: number }),
          rows: number,
          paused: Type.Boolean(),
          oldest_age_seconds: orNull(number),
          drain_seconds: orNull(number),
        }),
      ),
    ),
  ),
  stored_per_second: Type.Optional(byKind(number)),
  insert_in_progress_seconds: Type.Optional(byKind(number)),
  dead_letters: Type.Optional(orNull(byKind(number))),
  visible_until: Type.Optional(orNull(byKind(orNull(Type.String())))),
  no_thumbnails: Type.Optional(orNull(Type.String())),
  /** `confined`, or why the decoder of pictures is not. */
  picture_decoder: Type.Optional(orNull(Type.String())),
})
export type ServiceStatus = Static<typeof ServiceStatus>

/** A process with its status. If it does not respond, that is its only problem. */
export type AskedService = Address & (ServiceStatus | Unresponsive)

export interface Unresponsive {
  state: 'down'
  problems: Static<typeof Problem>[]
}

const timeoutMs = 3_000

/** A process without a valid status has the problem `process_ends`. */
export async function askService(address: Address): Promise<AskedService> {
  try {
    const response = await fetch(`${address.url}/status`, {
      signal: AbortSignal.timeout(timeoutMs),
    })
    const status: unknown = await response.json()
    if (Value.Check(ServiceStatus, status)) {
      if (status.service === address.service) return { ...address, ...status }
      return unresponsive(address, `a ${status.service} responds there`)
    }
    return unresponsive(address, 'it responds like another version of Intake, or another program')
  } catch (error) {
    const { message, cause } = error as { message: string; cause?: NodeJS.ErrnoException }
    // If a host has several addresses, the error of connecting to it has a code and no message.
    return unresponsive(address, cause?.message || cause?.code || message)
  }
}

function unresponsive(address: Address, reason: string): AskedService {
  const detail = `no status of the ${address.service} at ${address.url}: ${reason}`
  const since = new Date().toISOString()
  const problem = { code: 'process_ends', since, detail, help: helpOf('process_ends') }
  return { ...address, state: 'down', problems: [problem] }
}

export const isResponsive = (service: AskedService): service is Address & ServiceStatus =>
  'version' in service
