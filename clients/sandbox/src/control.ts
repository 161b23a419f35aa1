import type { IncomingMessage, ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { IntakeError, problem, problemType } from '@intake/contract'
import { compileSchema } from '@intake/contract/schemas'
import { Type } from 'typebox'
import { delayMsMax, parseFault, type Fault } from './faults.ts'
import type { RecordStore } from './record-store.ts'

const faultBytesMax = 64 * 1024

const integer = (maximum: number) => Type.Optional(Type.Integer({ minimum: 0, maximum }))
const RecordsQuery = Type.Object(
  { min: integer(1_000_000), timeoutMs: integer(delayMsMax) },
  { additionalProperties: false },
)
const validateQuery = compileSchema(RecordsQuery)

interface Controlled {
  records: Pick<RecordStore, 'list' | 'untilCount'>
  faults(): Fault[]
  addFault(fault: Fault): void
  clear(): void
}

type Route = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void

/** Serves the paths below `/_sandbox`. A test uses them to read records and to set faults. */
export function createControl(
  controlled: Controlled,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const routes: Record<string, Record<string, Route>> = {
    '/_sandbox': {
      DELETE(_request, response) {
        controlled.clear()
        response.writeHead(204).end()
      },
    },
    '/_sandbox/records': {
      async GET(_request, response, url) {
        const { min = 0, timeoutMs = 10_000 } = readQuery(url)
        const closed = new AbortController()
        response.once('close', () => closed.abort())
        await controlled.records.untilCount(min, { timeoutMs, signal: closed.signal })
        if (response.destroyed) return
        response.writeHead(200, { 'content-type': 'application/json' })
        await pipeline(Readable.from(printRecords(controlled.records)), response)
      },
    },
    '/_sandbox/faults': {
      GET: (_request, response) => sendJson(response, 200, { faults: controlled.faults() }),
      async POST(request, response) {
        controlled.addFault(parseFault(await readJson(request)))
        sendJson(response, 201, { faults: controlled.faults() })
      },
    },
  }

  return async (request, response) => {
    try {
      const url = new URL(request.url ?? '', 'http://sandbox')
      const methods = routes[url.pathname]
      if (methods === undefined) {
        const paths = Object.keys(routes).join(', ')
        throw new IntakeError('not_found', `The sandbox has ${paths}.`)
      }
      const route = methods[request.method ?? '']
      if (route === undefined) {
        response.setHeader('allow', Object.keys(methods).join(', '))
        throw new IntakeError('method_not_allowed', 'The Allow header lists the methods.')
      }
      await route(request, response, url)
    } catch (error) {
      if (response.headersSent) response.destroy()
      else sendProblem(response, error)
    }
  }
}

function readQuery(url: URL): { min?: number; timeoutMs?: number } {
  const given = Object.fromEntries(url.searchParams)
  const numbers = Object.entries(given).map(([name, text]) => [
    name,
    /^\d+$/.test(text) ? Number(text) : text,
  ])
  return validateQuery(Object.fromEntries(numbers))
}

function* printRecords(records: Pick<RecordStore, 'list'>): Generator<string> {
  let separator = '{"records":['
  for (const record of records.list()) {
    yield separator + record
    separator = ',\n'
  }
  yield separator === ',\n' ? ']}' : '{"records":[]}'
}

/** Reads the whole body, even if it is too large: some senders read no response before its end. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= faultBytesMax) chunks.push(chunk)
  }
  if (bytes > faultBytesMax) {
    throw new IntakeError('body_too_large', `A fault has at most ${faultBytesMax} bytes.`)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch (cause) {
    throw new IntakeError('invalid_json', 'A fault is a JSON object.', { cause })
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

export function sendProblem(response: ServerResponse, cause: unknown): void {
  const error =
    cause instanceof IntakeError
      ? cause
      : new IntakeError('internal_error', (cause as Error).message, { cause })
  response.writeHead(error.status, { 'content-type': problemType })
  response.end(JSON.stringify(problem(error, randomUUID())))
}
