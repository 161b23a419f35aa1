// A thread of the yardstick: at every message it does a fixed piece of work and answers with the
// milliseconds that took.
import { parentPort } from 'node:worker_threads'
import { createCorpus, defaultBodySize } from './corpus.ts'
import { median } from './statistics.ts'

const pieces = 9
const eventsPerPiece = 512

const bodies = createCorpus({ size: defaultBodySize, seed: 1 })
  .slice(0, eventsPerPiece)
  .map((event) => JSON.stringify(event))

/** JSON read and written, which is what gateways do most. */
function piece(): number {
  const begin = performance.now()
  for (const body of bodies) JSON.stringify(JSON.parse(body))
  return performance.now() - begin
}

const work = () => median(Array.from({ length: pieces }, piece))

// At first nothing is compiled.
work()
parentPort?.on('message', () => parentPort?.postMessage(work()))
