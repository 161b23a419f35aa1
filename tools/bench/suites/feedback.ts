import type { Bench } from '../bench.ts'
import { measureRound } from '../measure.ts'
import { number } from '../report/format.ts'
import type { SuiteResult } from './suite.ts'

const images = 2
const imageBytes = 300_000
const connections = 8
const warmUpSeconds = 4

const method = `Closed loop over ${connections} connections: \`POST /api/feedback\` with ${images} images of ${imageBytes / 1_000} kB each.`

/** Measures the cost of forms with images. */
export async function feedback(bench: Bench): Promise<SuiteResult> {
  const intake = await bench.start('intake')
  const load = (seconds: number) =>
    measureRound(bench, intake, {
      loop: 'closed',
      connections,
      seconds,
      requests: { kind: 'feedback', images, imageBytes },
    })
  await load(bench.options.quick ? 1 : warmUpSeconds)
  const round = await load(bench.options.seconds * 4)
  await intake.stop()
  bench.say(`feedback: ${number(round.acceptedPerSecond)} forms/s`)
  return {
    name: 'feedback',
    title: 'Feedback with images',
    method,
    tables: [
      {
        title: 'Forms',
        head: ['what', 'value'],
        rows: [
          ['forms/s', number(round.acceptedPerSecond)],
          ['MB of images/s', number((round.acceptedPerSecond * images * imageBytes) / 1e6)],
          ['gateway CPU, ms/form', number(round.cpuPerEvent.gateway / 1_000, 2)],
          ['ack p50, ms', number(round.load.latencyMs.p50, 1)],
        ],
      },
    ],
    checks: [],
  }
}
