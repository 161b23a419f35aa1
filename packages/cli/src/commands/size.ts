import { InvalidArgumentError, Option, type Command } from 'commander'
import { workerRowsPerSecond } from '../size/figures.ts'
import { outageBegin, type Load } from '../size/load.ts'
import { planFor, type Plan } from '../size/plan.ts'
import { simulateOutage, type Course } from '../size/simulate.ts'
import { bytes, number } from '../status/units.ts'
import { formatTable } from '../table.ts'
import { print, printJson } from '../print.ts'

interface SizeFlags extends Omit<Load, 'reservations'> {
  reservations?: boolean
  redisMemory?: number
  json?: boolean
}

const guide = `
The figures were measured on one machine with two cores, for events of 1.3 KB; docs/operations/capacity.md has them, the
formulas, and how to get your own. Nothing is connected to.

The outage of ClickHouse is around the hour of the highest rate, the worst case. Without --redis-memory Redis gets as much
as the outage needs.

Examples:
  intake size --events-per-day 1e9 --batch 100
  intake size --events-per-day 1e9 --batch 100 --outage-hours 6 --redis-memory 64`

/** `intake size`: what a number of events needs, and the course of an outage. */
export function defineSize(size: Command): void {
  const option = (flags: string, description: string, range: [number, number], preset?: number) => {
    const created = new Option(flags, description).argParser(parseNumber(...range))
    return preset === undefined ? created : created.default(preset)
  }
  size
    .addOption(option('--events-per-day <n>', 'log events', [1, 1e12]).makeOptionMandatory())
    .addOption(option('--feedback-per-day <n>', 'feedback', [0, 1e9], 0))
    .addOption(option('--event-bytes <n>', 'of an event as JSON', [100, 1e6], 1_300))
    .addOption(option('--batch <n>', 'events per request', [1, 500], 1))
    .addOption(option('--image-bytes <n>', 'of the images of one feedback', [0, 4e7], 600_000))
    .addOption(
      option('--peak <factor>', 'highest rate of a day, as multiple of the mean', [1, 2], 2),
    )
    .addOption(option('--outage-hours <n>', 'how long ClickHouse may be away', [0, 24], 6))
    .addOption(option('--retention-days <n>', 'how long records are kept', [1, 3_650], 90))
    .option('--reservations', 'clients send idempotency keys that are no UUIDv7')
    .addOption(option('--redis-memory <GiB>', 'what Redis has, of all masters', [0.1, 1e5]))
    .option('--json', 'print plan and course as JSON')
    .addHelpText('after', guide)
    .action((flags: SizeFlags) => {
      const { redisMemory, json, reservations = false, ...others } = flags
      const load = { ...others, reservations }
      const plan = planFor(load)
      const course = simulateOutage(
        load,
        plan,
        redisMemory === undefined ? {} : { redisMemoryBytes: redisMemory * 1024 ** 3 },
      )
      if (json) printJson({ load, plan, course })
      else print([...describePlan(plan), '', ...describeCourse(load, course)].join('\n'))
    })
}

function parseNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (text.trim() !== '' && value >= min && value <= max) return value
    throw new InvalidArgumentError(`Give a number from ${min} to ${max}.`)
  }
}

function describePlan(plan: Plan): string[] {
  const rates = `${number(plan.meanPerSecond)} on average, ${number(plan.peakPerSecond)} at the peak`
  const redis = `${bytes(plan.redisMemoryBytes)}, of a machine with twice that; ${number(100 * plan.redisCores)} % of a core`
  const rows: [string, string][] = [
    ['events per second', rates],
    ['gateways', `${plan.gateways}, one core each`],
    [
      'workers',
      `${plan.workers}; all but one store ${number(plan.storedPerSecond)} rows per second`,
    ],
    ['Redis maxmemory', redis],
    ['ClickHouse CPU', `${plan.clickhouseCores} cores for inserts and merges; queries come on top`],
    ['ClickHouse disk', bytes(plan.clickhouseDiskBytes)],
    ['S3', bytes(plan.s3Bytes)],
  ]
  const lines = [formatTable(rows)]
  if (plan.storedPerSecond > workerRowsPerSecond) {
    lines.push(
      `Extrapolated: more than ${number(workerRowsPerSecond)} rows per second were not measured, because the machine had two cores.`,
    )
  }
  if (plan.redisCores > 0.5) {
    lines.push('One Redis executes commands on one core: this needs several masters.')
  }
  return lines
}

function describeCourse(load: Load, course: Course): string[] {
  if (load.outageHours === 0) return ['No outage.']
  const begin = outageBegin(load)
  const hours = course.moments.filter(({ minute }) => minute % 60 === 0)
  const rows = hours.map((moment) => [
    clock(begin * 60 + moment.minute),
    number(moment.arrivingPerSecond),
    number(moment.acceptedPerSecond),
    number(moment.storedPerSecond),
    number(moment.waiting),
    `${number(100 * moment.redisShare)} %`,
  ])
  const at = (minute: number | undefined) =>
    minute === undefined ? 'never' : `${clock(begin * 60 + minute)}, ${after(minute)}`
  return [
    `ClickHouse is away from ${clock(begin * 60)} for ${load.outageHours} h:`,
    formatTable([['time', 'arrive/s', 'accepted/s', 'stored/s', 'waiting', 'Redis'], ...rows]),
    '',
    formatTable([
      ['Redis at most', `${number(100 * course.redisShareMax)} %`],
      ['logs are refused from', at(course.refusesFrom)],
      ['accepted again from', at(course.acceptsAgain)],
      ['refused', `${number(course.refused)} events`],
      ['the backlog is gone', at(course.drained)],
    ]),
  ]
}

const after = (minute: number) =>
  `${Math.floor(minute / 60)} h ${minute % 60} min after the outage began`

function clock(minutes: number): string {
  const ofDay = ((Math.round(minutes) % 1_440) + 1_440) % 1_440
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(Math.floor(ofDay / 60))}:${two(ofDay % 60)}`
}
