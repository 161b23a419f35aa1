import type { IncomingMessage, ServerResponse } from 'node:http'
import { createCors, type Handler } from '@intake/http-edge'
import type { Logger } from '@intake/runtime/process'
import { captureResponse } from './capture-response.ts'
import type { Fault, Faults, Operation } from './faults.ts'
import { seeRequest, type OnRequest } from './seen-request.ts'
import { send, serveFault } from './serve-fault.ts'

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  serve: () => void
}

/**
 * Creates the wrapper of the gateway's handler. The wrapper serves `/_sandbox` and applies faults;
 * the gateway serves all other requests.
 *
 * @param options.control serves `/_sandbox`
 * @param options.refuseForeign see `createRefuseForeign`
 * @param options.now the clock of the sandbox, in milliseconds since 1970
 */
export function createWrapHandler(options: {
  faults: Pick<Faults, 'take'>
  control: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  refuseForeign: (request: IncomingMessage, response: ServerResponse) => boolean
  takeBack: (id: string) => void
  now: () => number
  onRequest: OnRequest | undefined
  log: Logger
}): (serve: Handler) => Handler {
  const { faults, control, refuseForeign, takeBack, now, onRequest, log } = options

  async function serveOperation(fault: Fault | undefined, exchange: Exchange): Promise<void> {
    const { request, response, serve } = exchange
    const seen = onRequest && seeRequest(request, response, { fault, onRequest })
    const onDecided = seen?.onDecided ?? (() => undefined)
    if (fault !== undefined) {
      await serveFault({ ...exchange, fault, takeBack, onDecided })
      return
    }
    if (seen === undefined) return serve()
    const decided = await captureResponse(response, serve)
    if (decided === undefined) return
    onDecided(decided)
    send(response, decided)
  }

  const serveControl = controlCors.wrap((request, response) => void control(request, response))

  return (serve) => (request, response) => {
    response.setHeader('date', new Date(now()).toUTCString())
    if (refuseForeign(request, response)) return
    const path = request.url?.split('?', 1)[0] ?? ''
    if (path === '/_sandbox' || path.startsWith('/_sandbox/')) {
      return serveControl(request, response)
    }
    const takesFault = request.method === 'POST' && isOperation(path)
    const fault = takesFault ? faults.take(path) : undefined
    const exchange = { request, response, serve: () => serve(request, response) }
    serveOperation(fault, exchange).catch((err: unknown) => {
      log.error({ err, help: 'docs/sandbox.md' }, 'a request could not be served')
      request.socket.destroy()
    })
  }
}

const operations: ReadonlySet<string> = new Set<Operation>([
  '/api/log',
  '/api/log/batch',
  '/api/feedback',
])
const isOperation = (path: string): path is Operation => operations.has(path)

/**
 * Lets pages call `/_sandbox`, because a test can run in a page and control the sandbox from there.
 * `refuseForeign` refuses pages of other origins. The gateway has its own CORS setting for the API.
 */
const controlCors = createCors({
  pathPrefix: '/_sandbox',
  methods: ['GET', 'POST', 'DELETE'],
  requestFields: ['content-type'],
  exposedFields: ['Date'],
})
