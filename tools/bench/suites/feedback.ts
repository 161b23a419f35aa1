import type { Bench } from '../bench.ts'
import { measureRound, type Round } from '../measure.ts'
import { number } from '../report/format.ts'
import { watchResident, type ResidentSample } from '../resident.ts'
import { median } from '../statistics.ts'
import type { Check, SuiteResult } from './suite.ts'

const images = 2
const imageBytes = 300_000
const connections = 8
const warmUpSeconds = 4
const growthMax = 0.15

const method = `Closed loop over ${connections} connections: \`POST /api/feedback\` with ${images} images of
${imageBytes / 1_000} kB each. The gateway's resident memory is read four times a second.`

/** Measures the cost of forms with images, and whether the gateway's memory grows with them. */
export async function feedback(bench: Bench): Promise<SuiteResult> {
  const intake = await bench.start('intake')
  const [gateway] = intake.gateways
  const load = (seconds: number) =>
    measureRound(bench, intake, {
      loop: 'closed',
      connections,
      seconds,
      requests: { kind: 'feedback', images, imageBytes },
    })
  await load(bench.options.quick ? 1 : warmUpSeconds)
  const watched = await watchResident({ pid: gateway?.pid ?? 0, everyMs: 250 }, () =>
    load(bench.options.seconds * 4),
  )
  const { result: round } = watched
  const samples = watched.samples.filter(({ seconds }) => seconds <= round.seconds)
  await intake.stop()
  bench.say(`feedback: ${number(round.acceptedPerSecond)} forms/s`)
  return {
    name: 'feedback',
    title: 'Feedback with images',
    method,
    tables: [table(round, samples)],
    checks: [check(samples)],
  }
}

function table(round: Round, samples: ResidentSample[]) {
  const memory = samples.map(({ mebibytes }) => mebibytes)
  const milliseconds = (microseconds: number) => number(microseconds / 1_000, 2)
  return {
    title: 'Forms',
    head: ['what', 'value'],
    rows: [
      ['forms/s', number(round.acceptedPerSecond)],
      ['MB of images/s', number((round.acceptedPerSecond * images * imageBytes) / 1e6)],
      ['gateway CPU, ms/form', milliseconds(round.cpuPerEvent.gateway)],
      ['ack p50, ms', number(round.load.latencyMs.p50, 1)],
      ['resident memory of the gateway, smallest, MiB', number(Math.min(...memory))],
      ['resident memory of the gateway, median, MiB', number(median(memory))],
      ['resident memory of the gateway, largest, MiB', number(Math.max(...memory))],
    ],
  }
}

function check(samples: ResidentSample[]): Check {
  const third = Math.ceil(samples.length / 3)
  const of = (part: ResidentSample[]) => median(part.map(({ mebibytes }) => mebibytes))
  const growth = of(samples.slice(-third)) / of(samples.slice(0, third)) - 1
  return {
    item: '6',
    what: 'Gateway memory under images: last third of the round against the first third',
    measured: `${growth >= 0 ? '+' : ''}${number(growth * 100, 1)} %`,
    limit: `≤ +${growthMax * 100} %`,
    met: growth <= growthMax,
  }
}
