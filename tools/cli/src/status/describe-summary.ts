import { kinds } from '@intake/contract'
import { quantity, visibleLine } from '@intake/runtime'
import { formatTable } from '../table.ts'
import { isResponsive, type AskedService, type ServiceStatus } from './service-status.ts'
import type { SharedProblem, Summary } from './summary.ts'
import { bytes, duration, number, since } from './units.ts'

export function describeSummary({ state, problems, services }: Summary, now: Date): string {
  const responsive = services.filter(isResponsive)
  const memory = responsive.find((service) => service.redis != null)?.redis
  return [
    `Intake is ${describeState(state, services)}.  ${now.toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    ...(problems.length > 0
      ? [problems.map((problem) => describeProblem(problem, now)).join('\n')]
      : []),
    describeRecords(responsive),
    describeProcesses(services, now),
    ...(memory
      ? [`Redis uses ${bytes(memory.memory_used_bytes)} of ${bytes(memory.memory_max_bytes)}.`]
      : []),
  ].join('\n\n')
}

/** The state in words: with workers down, gateways may accept all records as usual. */
function describeState(state: Summary['state'], services: readonly AskedService[]): string {
  const isAccepting = services.some((one) => one.service === 'gateway' && one.state !== 'down')
  return state === 'down' && isAccepting ? 'accepting, not storing' : state
}

function describeProblem(problem: SharedProblem, now: Date): string {
  const { code, detail, help, from } = problem
  return `${code}, for ${since(problem.since, now)}, at ${from.join(' ')}\n  ${visibleLine(detail)}\n  ${help}`
}

/** The state of the queues is from one worker, because all report the same; rates are sums. */
function describeRecords(services: readonly ServiceStatus[]): string {
  const sum = (read: (service: ServiceStatus) => number | undefined) => {
    const values = services.map(read).filter((value) => value !== undefined)
    return values.length === 0 ? undefined : values.reduce((total, value) => total + value, 0)
  }
  const first = <Value>(read: (service: ServiceStatus) => Value | null | undefined) =>
    services.map(read).find((value) => value != null)
  const rows = kinds.map((kind) => {
    const backlog = first((service) => service.backlog?.[kind])
    const { frames } = backlog ?? {}
    return [
      kind,
      number(sum((service) => service.accepted_per_second?.[kind])),
      number(sum((service) => service.stored_per_second?.[kind])),
      `${number(backlog?.rows)}${backlog?.paused ? ' (paused)' : ''}`,
      frames === undefined ? '?' : `${frames.waiting} + ${frames.active} + ${frames.delayed}`,
      duration(backlog?.oldest_age_seconds),
      backlog === undefined ? '?' : drained(backlog.drain_seconds),
      number(first((service) => service.dead_letters)?.[kind]),
      // Each worker reports the watermark that it read last, so the latest of these is shown.
      services
        .flatMap((service) => service.visible_until?.[kind] ?? [])
        .toSorted()
        .at(-1)
        ?.slice(11, 19) ?? '?',
    ]
  })
  const heads = [
    'records',
    'accepted/s',
    'stored/s',
    'rows waiting',
    'frames*',
    'oldest',
    'drained in',
    'dead letters',
    'visible until',
  ]
  return `${formatTable([heads, ...rows])}\n* waiting + in progress + postponed`
}

const drained = (seconds: number | null) => (seconds === null ? 'not shrinking' : duration(seconds))

function describeProcesses(services: readonly AskedService[], now: Date): string {
  const rows = services.map((service) => {
    const { url, state } = service
    if (!isResponsive(service)) return [service.service, url, 'no response']
    return [service.service, url, state, `up ${since(service.started_at, now)}`, load(service)]
  })
  return formatTable(rows)
}

function load(service: ServiceStatus): string {
  const { requests_in_flight: requests, connections, refused_per_second: refused } = service
  const { picture_decoder: decoder } = service
  const inserts = Object.entries(service.insert_in_progress_seconds ?? {})
    .filter(([, seconds]) => seconds > 0)
    .map(([kind, seconds]) => `inserts ${kind} for ${duration(seconds)}`)
  return [
    ...(requests === undefined ? [] : [`${quantity(requests, 'request')} in flight`]),
    ...(connections === undefined ? [] : [`${connections.open} of ${connections.max} connections`]),
    ...(refused === undefined ? [] : [`${number(refused)} refused/s`]),
    ...inserts,
    ...(service.no_thumbnails ? [`no thumbnails: ${service.no_thumbnails}`] : []),
    ...(decoder && decoder !== 'confined' ? [`decoder of pictures ${decoder}`] : []),
  ].join(', ')
}
