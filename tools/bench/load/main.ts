// The load generator: a separate process that runs one load at a time for its parent and exits when
// the parent is gone.
import { runClosedLoop, type ClosedLoop } from './closed-loop.ts'
import { runOpenLoop, type OpenLoop } from './open-loop.ts'
import { prepareRequests, type PreparedRequests, type RequestKind } from './requests.ts'

interface Content {
  requests: RequestKind
}

/** A load that is not bound to gateways: it has neither ports nor an API key. */
export type Demand = (Omit<ClosedLoop, 'ports'> | Omit<OpenLoop, 'ports'>) & Content

/** A load for certain gateways, with their ports and their API key. */
export type Load = (ClosedLoop | OpenLoop) & Content & { apiKey: string }

const prepared = new Map<string, PreparedRequests>()

function prepare({ requests, apiKey }: Load): PreparedRequests {
  const name = JSON.stringify(requests)
  const known = prepared.get(name) ?? prepareRequests(requests, apiKey)
  prepared.set(name, known)
  return known
}

/**
 * Prepares a load, and reports to the parent that it is ready. When the parent sends the next
 * message, runs the load, and then sends the result.
 */
async function run(load: Load): Promise<void> {
  const requests = prepare(load)
  process.send?.({ prepared: true })
  await new Promise((resolve) => process.once('message', resolve))
  const result = await (load.loop === 'closed'
    ? runClosedLoop(load, requests)
    : runOpenLoop(load, requests))
  process.send?.({ result })
  listen()
}

function listen(): void {
  process.once('message', (load: Load) => {
    run(load).catch((error: unknown) => {
      console.error(error)
      process.exit(1)
    })
  })
}

process.once('disconnect', () => process.exit(0))
listen()
